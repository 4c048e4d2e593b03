import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const OXLINT = join(ROOT, 'node_modules/oxlint/bin/oxlint');
/** It takes a second of CPU time, which other suites use too. */
const JUDGED_MS_MAX = 600_000;

/** A rule that no longer matches looks like clean code, so each rule is tested with code that breaks it. */
const broken: readonly [rule: string, code: string][] = [
  ['TS2322', 'export const text: string = 1;'],
  ['TS2307', "export * from './nowhere.js';"],
  ['TS2578', '// @ts-expect-error -- nothing is wrong\nexport const one = 1;'],
  ['await-thenable', 'export const one = async () => await 1;'],
  ['no-array-delete', 'export const drop = (list: number[]) => {\n  delete list[0];\n};'],
  ['no-base-to-string', 'export const text = (fields: { one: 1 }) => String(fields);'],
  ['no-duplicate-type-constituents', 'export type Text = string | string;'],
  ['no-floating-promises', 'Promise.resolve(1);'],
  ['no-for-in-array', 'for (const place in [1, 2]) console.log(place);'],
  ['no-implied-eval', "setTimeout('1', 1);"],
  ['no-misused-promises', '[1].forEach(async () => undefined);'],
  ['no-redundant-type-constituents', 'export type Anything = unknown | string;'],
  ['no-unnecessary-type-assertion', 'export const same = (text: string) => text as string;'],
  ['no-unsafe-argument', 'export const read = (text: any) => parseInt(text);'],
  ['no-unsafe-assignment', "export const value = JSON.parse('1');"],
  ['no-unsafe-call', 'export const call = (run: any) => void run();'],
  ['no-unsafe-enum-comparison', 'enum Size {\n  Small = 1,\n}\nexport const isSmall = (size: Size) => size === 1;'],
  ['no-unsafe-member-access', 'export const look = (fields: any) => void fields.one;'],
  ['no-unsafe-return', 'export const pass = (value: any) => value;'],
  ['no-unsafe-unary-minus', 'export const less = (value: string) => -value;'],
  ['only-throw-error', "export const fail = () => {\n  throw 'a text';\n};"],
  ['prefer-promise-reject-errors', "export const failed = () => Promise.reject('a text');"],
  ['restrict-plus-operands', 'export const sum = (fields: { one: 1 }) => 1n + (fields as never as number);'],
  ['restrict-template-expressions', 'export const text = (fields: { one: 1 }) => `${fields}`;'],
  ['unbound-method', 'class One {\n  run() {}\n}\nexport const { run } = new One();'],
];

let folder: string;
let found: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'types-'));
  mkdirSync(join(folder, 'src'));
  for (const name of ['tsconfig.json', '.oxlintrc.json']) copyFileSync(join(ROOT, name), join(folder, name));
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name));
  for (const [place, [, code]] of broken.entries()) writeFileSync(join(folder, `src/broken-${place}.ts`), `${code}\n`);
  writeFileSync(join(folder, 'src/sound.ts'), 'export const sound = async (): Promise<number> => 1;\n');
  found = await promisify(execFile)(process.execPath, [OXLINT, '--format', 'unix', 'src'], { cwd: folder }).then(
    ({ stdout }) => stdout.split('\n'),
    (error: { stdout: string }) => error.stdout.split('\n'),
  );
}, JUDGED_MS_MAX);
afterAll(() => rmSync(folder, { recursive: true }));

it.each(broken.map(([rule], place) => [rule, place] as const))('%s is reported', (rule, place) => {
  const told = found.filter((line) => line.startsWith(`src/broken-${place}.ts:`));
  expect(told.map((line) => /\/typescript\(([\w-]+)\)/.exec(line)?.[1])).toContain(rule);
});

it('correct code is not reported', () => {
  expect(found.filter((line) => line.includes('sound'))).toEqual([]);
});

it('every enabled rule is tested with code that breaks it', () => {
  const { rules } = JSON.parse(readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8')) as { rules: Record<string, 'error'> };
  const shown = broken.map(([rule]) => `typescript/${rule}`).filter((rule) => !rule.includes('/TS'));
  expect(shown.sort()).toEqual(Object.keys(rules).sort());
});
