import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { COMMON_REJECTIONS } from '../platform/http/rejections.js';
import { REJECTIONS } from './rejections.js';

const SOURCE = fileURLToPath(new URL('../', import.meta.url));

const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
);
const textOf = (file: string) => readFileSync(join(SOURCE, file), 'utf8');

/** Every code the source throws, with the file that throws it. */
const thrownCodes = sources.flatMap((file) =>
  [...textOf(file).matchAll(/new Rejection\(\s*'([^']+)'/g)].map(([, code]) => [code!, file] as const),
);

it('has an entry for every code that is thrown', () => {
  expect(thrownCodes.length).toBeGreaterThan(100);
  expect(thrownCodes.filter(([code]) => !(code in REJECTIONS))).toEqual([]);
});

it('contains the rejections of every room', () => {
  const lists = sources.filter((file) => file.endsWith('.rejections.ts'));
  const codes = lists.flatMap((file) => [...textOf(file).matchAll(/^  '?([a-z-]+)'?: \{/gm)].map(([, code]) => code!));
  expect(lists.length).toBeGreaterThan(10);
  expect([...codes, ...Object.keys(COMMON_REJECTIONS)].sort()).toEqual(Object.keys(REJECTIONS).sort());
});

it('has codes in kebab-case, body codes in snake_case and statuses of 400 or more', () => {
  for (const [code, rendering] of Object.entries(REJECTIONS)) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(rendering.code ?? 'none').toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(rendering.status).toBeGreaterThanOrEqual(400);
  }
});

it('has a Retry-After for every 429 and 503', () => {
  const comeAgain = Object.values(REJECTIONS).filter(({ status }) => status === 429 || status === 503);
  expect(comeAgain.every(({ retryAfterSeconds }) => retryAfterSeconds !== undefined)).toBe(true);
});

it('has a body code for every 409', () => {
  // Brings its code in its details, because its client reads a text in `error`.
  const coded = new Set(['workflow-in-use']);
  const conflicts = Object.entries(REJECTIONS).filter(([, { status }]) => status === 409);
  expect(conflicts.filter(([name, { code }]) => code === undefined && !coded.has(name))).toEqual([]);
});
