import { expect, it } from '@jest/globals';
import { systemTiming } from '../system-timing.js';
import { Progress } from './progress.js';

const LONG_MS = 60_000;
const forever = new AbortController().signal;

it('lets a writer pause while no caller waits for its read model', async () => {
  const progress = new Progress(systemTiming);
  const since = performance.now();
  progress.registerWaiter(['others']);
  await progress.batchingPause(['accounts'], 20, forever);
  expect(performance.now() - since).toBeGreaterThan(15);
});

it('ends the pause of a writer when a caller waits, and allows no pause while a caller waits', async () => {
  const progress = new Progress(systemTiming);
  const pause = progress.batchingPause(['accounts'], LONG_MS, forever);
  const unregister = progress.registerWaiter(['others', 'accounts']);
  await pause;
  await progress.batchingPause(['accounts'], LONG_MS, forever);
  const second = progress.registerWaiter(['accounts']);
  unregister();
  await progress.batchingPause(['accounts'], LONG_MS, forever);
  second();
  const stop = new AbortController();
  const resting = progress.batchingPause(['accounts'], LONG_MS, stop.signal);
  stop.abort();
  await resting;
});

it('knows no position any more after all followers were taken back, until a checkpoint is seen again', () => {
  const progress = new Progress(systemTiming);
  progress.seen('accounts', 9n);
  progress.seen('accounts', 7n);
  expect(progress.hasReached(['accounts'], 9n)).toBe(true);
  progress.forget();
  expect(progress.hasReached(['accounts'], 1n)).toBe(false);
  progress.seen('accounts', 3n);
  expect([progress.hasReached(['accounts'], 3n), progress.hasReached(['accounts'], 4n)]).toEqual([true, false]);
});
