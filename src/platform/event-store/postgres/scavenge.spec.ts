import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Scavenger } from './scavenge.js';

const EVERY_MS = 60_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** The number of calls of processes that each end after a time. */
async function callsOf(processes: number, endsAfterMs: number): Promise<number> {
  let calls = 0;
  const run = async () => (calls++, { deleted: 0, more: false });
  for (let process = 0; process < processes; process++) {
    const scavenger = new Scavenger(run, EVERY_MS);
    scavenger.start();
    await jest.advanceTimersByTimeAsync(endsAfterMs);
    scavenger.stop();
  }
  return calls;
}

it('deletes expired events in a process that is restarted three times a minute', async () => {
  expect(await callsOf(3, EVERY_MS / 3)).toBe(3);
});

it('deletes once per interval in a process that stays', async () => {
  expect(await callsOf(1, 10.5 * EVERY_MS)).toBe(11);
});
