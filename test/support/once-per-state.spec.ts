import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { oncePerState } from './once-per-state.js';

let folder: string;
let computations: number;
const result = (name = 'a check') => {
  const compute = () => Promise.resolve(`result\n${++computations}`);
  return oncePerState(name, [join(folder, 'sources'), join(folder, 'settings')], compute, join(folder, 'cache'));
};
const write = (name: string, text: string) => writeFile(join(folder, name), text);

beforeEach(async () => {
  computations = 0;
  folder = await mkdtemp(join(tmpdir(), 'states-'));
  await mkdir(join(folder, 'sources/deep'), { recursive: true });
  await write('sources/deep/one.ts', '1');
  await write('settings', 'x');
});
afterEach(() => rm(folder, { recursive: true }));

it('computes once per state of the files and per name', async () => {
  expect([await result(), await result(), await result('another')]).toEqual(['result\n1', 'result\n1', 'result\n2']);
});

it.each([
  ['a file in a folder was changed', () => write('sources/deep/one.ts', '2')],
  ['a single file was changed', () => write('settings', 'y')],
  ['a file was added', () => write('sources/two.ts', '')],
  ['a file was moved', () => rename(join(folder, 'sources/deep/one.ts'), join(folder, 'sources/one.ts'))],
  ['a file was removed', () => rm(join(folder, 'sources/deep/one.ts'))],
])('computes again after %s', async (_, change) => {
  await result();
  await change();
  expect(await result()).toBe('result\n2');
});

it('computes again for another value', async () => {
  const of = (value: unknown) => oncePerState('a check', [{ value }], async () => `${++computations}`, join(folder, 'cache'));
  expect([await of({ a: '1' }), await of({ a: '1' }), await of({ a: '2' })]).toEqual(['1', '1', '2']);
});

it('does not store a result if a file was changed meanwhile', async () => {
  const inputs = [join(folder, 'sources'), join(folder, 'settings')];
  const edited = () => write('settings', 'y').then(() => 'of y');
  await oncePerState('a check', inputs, edited, join(folder, 'cache'));
  await write('settings', 'x');
  expect(await result()).toBe('result\n1');
});

it('does not store a failure', async () => {
  const failing = () => Promise.reject(new Error('It failed.'));
  await expect(oncePerState('a check', [join(folder, 'settings')], failing, join(folder, 'cache'))).rejects.toThrow('It failed.');
  expect(await result()).toBe('result\n1');
});
