import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { ROOMS } from './rooms.js';

const SOURCE = fileURLToPath(new URL('../', import.meta.url));
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) => !file.endsWith('.spec.ts'));

/** The names of the classes that match `declared` in the files that `isTheirs` selects. */
const classesIn = (isTheirs: (file: string) => boolean, declared: RegExp): string[] =>
  files
    .filter((file) => file.endsWith('.ts') && isTheirs(file))
    .flatMap((file) => [...readFileSync(join(SOURCE, file), 'utf8').matchAll(declared)].map(([, name]) => name!));

const listed = (list: 'reactions' | 'tickers' | 'retention' | 'toolKinds') =>
  ROOMS.flatMap((room) => (room[list] ?? []).map(({ name }) => name));

it.each([
  ['reactions', classesIn((file) => file.endsWith('.reaction.ts'), /export class (\w+)[^{]*implements Reaction\b/g)],
  ['tickers', classesIn((file) => file.endsWith('.ticker.ts'), /export class (\w+)[^{]*implements Ticker\b/g)],
  ['retention', classesIn(() => true, /export class (\w+)[^{]*implements RetentionRule\b/g)],
  ['toolKinds', classesIn((file) => file.endsWith('-tool.ts'), /export class (\w+)[^{]* extends ToolKind\b/g)],
] as const)('the rooms list all %s once each', (list, declared) => {
  expect(declared.length).toBeGreaterThan(5);
  expect(listed(list).toSorted()).toEqual(declared.toSorted());
});

it('no two reactions have the same name', () => {
  const names = classesIn((file) => file.endsWith('.reaction.ts'), /readonly name = '([^']+)'/g);
  expect(new Set(names).size).toBe(names.length);
});

it('every module is a room', () => {
  const modules = classesIn((file) => file.endsWith('.module.ts') && !file.startsWith('app'), /export class (\w+Module)\b/g);
  expect(ROOMS.map(({ name }) => name).toSorted()).toEqual(modules.toSorted());
});

it('every notification rule is listed', async () => {
  const declaring = files.filter((file) => file.endsWith('.notifications.ts'));
  const modules = await Promise.all(
    declaring.map((file) => import(`../${file.replace(/\.ts$/, '.js')}`) as Promise<Record<string, unknown>>),
  );
  const declared = modules.flatMap((exported) => Object.values(exported).flat());
  expect(declared.length).toBeGreaterThanOrEqual(declaring.length);
  const listed = ROOMS.flatMap(({ notifications }) => notifications ?? []);
  expect(listed.length).toBe(declared.length);
  expect(new Set(listed)).toEqual(new Set(declared));
});

it('every purge is listed', () => {
  const declared = classesIn((file) => file.endsWith('.purges.ts'), /type: '(\w+)'/g);
  const purged = ROOMS.flatMap(({ purges }) => purges ?? []).map(({ type }) => type);
  expect(purged.toSorted()).toEqual(declared.toSorted());
});

it('no interceptor is global, because it would wrap the response to every request in observables', () => {
  const text = (file: string) => readFileSync(join(SOURCE, file), 'utf8');
  expect(files.filter((file) => file.endsWith('.ts') && /APP_INTERCEPTOR|useGlobalInterceptors/.test(text(file)))).toEqual([]);
});
