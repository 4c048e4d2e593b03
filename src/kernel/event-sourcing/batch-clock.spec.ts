import { expect, it } from '@jest/globals';
import type { Timing } from '../timing.js';
import { BatchClock } from './batch-clock.js';

/** Timers that the test fires. */
function byHand() {
  const timers: { ms: number; work: () => void }[] = [];
  const timing = { elapsedMs: () => 0, after: (ms: number, work: () => void) => timers.push({ ms, work }) };
  return { timers, clock: new BatchClock(timing as unknown as Timing) };
}

it('calls all waiting callbacks together with one timer, that of the first', () => {
  const { timers, clock } = byHand();
  const called: string[] = [];
  clock.within(5, () => called.push('a'));
  clock.within(2, () => called.push('b'));
  const cancel = clock.within(5, () => called.push('c'));
  cancel();
  expect(timers.map(({ ms }) => ms)).toEqual([5]);
  timers[0]!.work();
  expect(called).toEqual(['a', 'b']);
});

it('starts another timer for a callback that is added during a call', () => {
  const { timers, clock } = byHand();
  const called: string[] = [];
  clock.within(3, () => {
    called.push('a');
    clock.within(4, () => called.push('b'));
  });
  timers[0]!.work();
  expect(called).toEqual(['a']);
  expect(timers.map(({ ms }) => ms)).toEqual([3, 4]);
  timers[1]!.work();
  expect(called).toEqual(['a', 'b']);
});
