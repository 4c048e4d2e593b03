import { expect, it } from '@jest/globals';
import { systemTiming } from '../system-timing.js';
import { Progress } from './progress.js';

const LONG_MS = 60_000;
const forever = new AbortController().signal;

it('lets a writer take its time as long as nobody waits for its read model', async () => {
  const progress = new Progress(systemTiming);
  const since = performance.now();
  progress.want(['others']);
  await progress.lull(['accounts'], 20, forever);
  expect(performance.now() - since).toBeGreaterThan(15);
});

it('calls a writer back to work when somebody begins to wait, and lets it not pause while somebody does', async () => {
  const progress = new Progress(systemTiming);
  const lull = progress.lull(['accounts'], LONG_MS, forever);
  const unwant = progress.want(['others', 'accounts']);
  await lull;
  await progress.lull(['accounts'], LONG_MS, forever);
  const second = progress.want(['accounts']);
  unwant();
  await progress.lull(['accounts'], LONG_MS, forever);
  second();
  const stop = new AbortController();
  const resting = progress.lull(['accounts'], LONG_MS, stop.signal);
  stop.abort();
  await resting;
});
