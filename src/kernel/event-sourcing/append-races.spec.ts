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

/** Loses so many races before it wins one, and keeps why each attempt was made. */
const losing = (count: number, told: (Overtaken | undefined)[] = []) => ({
  told,
  attempt: async (overtaken: Overtaken | undefined) => {
    told.push(overtaken);
    if (told.length <= count) throw new WrongRevision('s', told.length, told.length + 1);
    return told.length;
  },
});

it('tries again after each lost race, and says what was lost', async () => {
  const { told, attempt } = losing(3);
  expect(await races.run('s', attempt)).toBe(4);
  expect(told.map((each) => (each instanceof WrongRevision ? each.actual : each))).toEqual([undefined, 2, 3, 4]);
});

it('pauses for random times, out of ever longer ones up to the longest', async () => {
  const losses = 200;
  await races.run('s', losing(losses).attempt, Infinity);
  const ceilings = Array.from({ length: losses }, (_, loss) => Math.min(RACE_PAUSE_MS_MAX, RACE_PAUSE_MS_FIRST * 2 ** loss));
  const shares = timing.pauses.map((ms, loss) => ms / ceilings[loss]!);
  expect(shares.every((share) => share >= 0 && share < 1)).toBe(true);
  expect([Math.min(...shares) < 0.1, Math.max(...shares) > 0.9]).toEqual([true, true]);
});

it('gives up once patience has run out, with the race that was lost last', async () => {
  await expect(races.run('s', losing(Infinity).attempt)).rejects.toBeInstanceOf(WrongRevision);
  expect(timing.elapsedMs()).toBeLessThanOrEqual(RACE_PATIENCE_MS);
  expect(timing.elapsedMs()).toBeGreaterThan(RACE_PATIENCE_MS - RACE_PAUSE_MS_MAX);
});

it('has patience for the waiting and the races together', async () => {
  const front = races.run('s', losing(Infinity).attempt, 20_000);
  const next = races.run('s', losing(Infinity).attempt, RACE_PATIENCE_MS);
  await expect(front).rejects.toBeInstanceOf(WrongRevision);
  await expect(next).rejects.toBeInstanceOf(WrongRevision);
  expect(timing.elapsedMs()).toBeLessThanOrEqual(RACE_PATIENCE_MS);
});

it('tells those who waited that others went before', async () => {
  const { told, attempt } = losing(0);
  await Promise.all([races.run('s', losing(0).attempt), races.run('s', attempt)]);
  expect(told).toEqual(['waited']);
});

it('repeats nothing that failed for another reason', async () => {
  let attempts = 0;
  const failing = races.run('s', () => Promise.reject(new Error(`attempt ${++attempts}`)));
  await expect(failing).rejects.toThrow('attempt 1');
  expect([attempts, timing.pauses]).toEqual([1, []]);
});
