import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { Sql } from 'postgres';
import { NoAnswer, Pool } from './pool.js';

const SILENT_MS_MAX = 5_000;

/** The connections that the pool has opened and those that it has ended, by their numbers. */
let opened: number;
let ended: number[];
let pool: Pool;

beforeEach(() => {
  jest.useFakeTimers();
  [opened, ended] = [0, []];
  const open = () => {
    const number = ++opened;
    return { end: async () => void ended.push(number) } as unknown as Sql;
  };
  pool = new Pool(open, SILENT_MS_MAX);
});

afterEach(() => void jest.useRealTimers());

/** A query that the server answers after a time. */
const answeredAfter = (ms: number) => () =>
  new Promise<string>((resolve) => void (ms < Infinity && setTimeout(() => resolve('answer'), ms)));

it('does not break the queries of others when a caller had less time left than the server takes', async () => {
  const other = pool.run(answeredAfter(2_000), SILENT_MS_MAX);
  const impatient = expect(pool.run(answeredAfter(1_500), 1)).rejects.toBeInstanceOf(NoAnswer);
  await jest.advanceTimersByTimeAsync(SILENT_MS_MAX);
  await impatient;
  expect(await other).toBe('answer');
  expect([opened, ended]).toEqual([1, []]);
});

it.each([1, SILENT_MS_MAX])('replaces the connections of a server that does not answer, with %d ms left', async (timeoutMs) => {
  const failed = expect(pool.run(answeredAfter(Infinity), timeoutMs)).rejects.toBeInstanceOf(NoAnswer);
  await jest.advanceTimersByTimeAsync(SILENT_MS_MAX - 1);
  expect(opened).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  await failed;
  expect([opened, ended]).toEqual([2, [1]]);
});
