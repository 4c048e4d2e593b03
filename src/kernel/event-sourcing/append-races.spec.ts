import { beforeEach, expect, it } from '@jest/globals';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { AppendRaces, type Overtaken, RACE_PATIENCE_MS, RACE_PAUSE_MS_FIRST, RACE_PAUSE_MS_MAX } from './append-races.js';
import { WrongRevision } from './event-store.js';

let timing: VirtualTiming;
let races: AppendRaces;
beforeEach(() => {
  timing = new VirtualTiming();
  races = new AppendRaces(timing);
});

/** Loses the given number of races before it wins one, and records the reason of each attempt. */
const losing = (count: number, told: (Overtaken | undefined)[] = []) => ({
  told,
  attempt: async (overtaken: Overtaken | undefined) => {
    told.push(overtaken);
    if (told.length <= count) throw new WrongRevision('s', told.length, told.length + 1);
    return told.length;
  },
});

it('retries after each lost race and passes the race to the attempt', async () => {
  const { told, attempt } = losing(3);
  expect(await races.run('s', attempt)).toBe(4);
  expect(told.map((each) => (each instanceof WrongRevision ? each.actual : each))).toEqual([undefined, 2, 3, 4]);
});

it('pauses for a random part of a doubling time, up to the maximum', async () => {
  const losses = 200;
  await races.run('s', losing(losses).attempt, Infinity);
  const ceilings = Array.from({ length: losses }, (_, loss) => Math.min(RACE_PAUSE_MS_MAX, RACE_PAUSE_MS_FIRST * 2 ** loss));
  const shares = timing.pauses.map((ms, loss) => ms / ceilings[loss]!);
  expect(shares.every((share) => share >= 0 && share < 1)).toBe(true);
  expect([Math.min(...shares) < 0.1, Math.max(...shares) > 0.9]).toEqual([true, true]);
});

it('gives up after its patience and throws the last lost race', async () => {
  await expect(races.run('s', losing(Infinity).attempt)).rejects.toBeInstanceOf(WrongRevision);
  expect(timing.elapsedMs()).toBeLessThanOrEqual(RACE_PATIENCE_MS);
  expect(timing.elapsedMs()).toBeGreaterThan(RACE_PATIENCE_MS - RACE_PAUSE_MS_MAX);
});

it('counts the time in the queue and the races against one patience', async () => {
  const front = races.run('s', losing(Infinity).attempt, 20_000);
  const next = races.run('s', losing(Infinity).attempt, RACE_PATIENCE_MS);
  await expect(front).rejects.toBeInstanceOf(WrongRevision);
  await expect(next).rejects.toBeInstanceOf(WrongRevision);
  expect(timing.elapsedMs()).toBeLessThanOrEqual(RACE_PATIENCE_MS);
});

it('tells an attempt that it waited for other callers', async () => {
  const { told, attempt } = losing(0);
  await Promise.all([races.run('s', losing(0).attempt), races.run('s', attempt)]);
  expect(told).toEqual(['waited']);
});

it('does not retry after another error', async () => {
  let attempts = 0;
  const failing = races.run('s', () => Promise.reject(new Error(`attempt ${++attempts}`)));
  await expect(failing).rejects.toThrow('attempt 1');
  expect([attempts, timing.pauses]).toEqual([1, []]);
});
