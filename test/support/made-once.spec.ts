import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { exists, madeOnce } from './made-once.js';

let folder: string;
let path: string;
let makings: number;
const make = () => {
  makings++;
  return writeFile(path, '');
};

beforeEach(async () => {
  makings = 0;
  folder = await mkdtemp(join(tmpdir(), 'made-'));
  path = join(folder, 'program');
});
afterEach(() => rm(folder, { recursive: true }));

it('is made by one of several, and not again', async () => {
  await Promise.all([madeOnce(path, make), madeOnce(path, make), madeOnce(path, make)]);
  await madeOnce(path, make);
  expect(makings).toBe(1);
});

it('is made by another process if the one that claimed it has ended', async () => {
  // No process has a higher number.
  await symlink(String(2 ** 22 + 1), `${path}.claim`);
  await madeOnce(path, make);
  expect([makings, await exists(path)]).toEqual([1, true]);
});

it('is not made while another process has claimed it, and is not awaited for ever', async () => {
  await symlink(String(process.ppid), `${path}.claim`);
  await expect(madeOnce(path, make, 0)).rejects.toThrow(`${path}.claim is still there`);
  expect(makings).toBe(0);
});

it('is made by the next one if it could not be made', async () => {
  await expect(madeOnce(path, () => Promise.reject(new Error('It failed.')))).rejects.toThrow('It failed.');
  await madeOnce(path, make);
  expect(makings).toBe(1);
});

it('fails if it cannot be claimed', async () => {
  const name = 'x'.repeat(255);
  await expect(madeOnce(join(folder, name), make)).rejects.toThrow('ENAMETOOLONG');
});
