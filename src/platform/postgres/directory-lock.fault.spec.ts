import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { DirectoryInUse, lockDirectory, SILENCE_MAX_MS } from './directory-lock.js';

// Only the missing renewals show that a process on another host is dead, so the tests wait for them.
jest.setTimeout(4 * SILENCE_MAX_MS);

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbatim-lock-'));
  file = join(directory, 'owner');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const leaveBehind = (owner: string, silentMs = 0) => {
  writeFileSync(file, `${owner}\n`);
  const seen = new Date(Date.now() - silentMs);
  utimesSync(file, seen, seen);
};

it('has one holder, and another after its release', async () => {
  const lock = await lockDirectory(file);
  await expect(lockDirectory(file)).rejects.toThrow(DirectoryInUse);
  lock.release();
  (await lockDirectory(file)).release();
  expect(readdirSync(directory)).toEqual([]);
});

it('is taken over from a dead process, also when its pid is in use again', async () => {
  for (const owner of [`${hostname()} 999999999 some-time`, `${hostname()} ${process.pid} some-other-time`, 'rubbish']) {
    leaveBehind(owner, SILENCE_MAX_MS + 1_000);
    (await lockDirectory(file)).release();
  }
});

it('is taken over by exactly one of many processes when it is stale', async () => {
  leaveBehind(`${hostname()} 999999999 some-time`);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockDirectory(file)));
  const locks = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(locks).toHaveLength(1);
  locks[0]!.release();
  expect(readdirSync(directory)).toEqual([]);
});

it.each([
  ['shows the same time', 0],
  ['is ten minutes behind', 600_000],
])('stays with a process on another host that renews it and whose clock %s', async (_, behindMs) => {
  leaveBehind('another-host 1 some-time', behindMs);
  const alive = setInterval(() => leaveBehind('another-host 1 some-time', behindMs), 500);
  const refused = expect(lockDirectory(file)).rejects.toThrow('in use by process 1 on another-host');
  await refused.finally(() => clearInterval(alive));
  expect(readFileSync(file, 'utf8')).toBe('another-host 1 some-time\n');
});

it.each([
  ['shows the same time', 0],
  ['is ten minutes ahead', -600_000],
])('is taken over from a process on another host that no longer renews it and whose clock %s', async (_, behindMs) => {
  leaveBehind('another-host 1 some-time', behindMs);
  (await lockDirectory(file)).release();
});

it('reports a folder in place of its file', async () => {
  mkdirSync(file);
  await expect(lockDirectory(file)).rejects.toThrow(`${file} is a folder, where the lock of ${directory} is to be a file`);
});

it('is renewed while it is held', async () => {
  const lock = await lockDirectory(file);
  utimesSync(file, new Date(0), new Date(0));
  await eventually(() => Date.now() - statSync(file).mtimeMs < SILENCE_MAX_MS);
  lock.release();
});

it('is kept by a process that temporarily cannot open its file', async () => {
  jest.useFakeTimers();
  try {
    const lock = await lockDirectory(file);
    const own = readFileSync(file, 'utf8');
    rmSync(file);
    // A folder cannot be read as a file, like any file in a process with too many open files.
    mkdirSync(file);
    jest.advanceTimersByTime(SILENCE_MAX_MS);
    rmSync(file, { recursive: true });
    writeFileSync(file, own);
    utimesSync(file, new Date(0), new Date(0));
    jest.advanceTimersByTime(SILENCE_MAX_MS);
    expect(statSync(file).mtimeMs).toBeGreaterThan(0);
    lock.release();
  } finally {
    jest.useRealTimers();
  }
});
