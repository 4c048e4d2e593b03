import { describe, expect, it, jest } from '@jest/globals';
import { DEDUPLICATION_MS, retryDelayMs } from '../../src/kernel/messaging/work-queue.js';
import { InProcessWorkQueue } from '../../src/platform/messaging/work-queue/in-process-work-queue.js';
import { eventually } from '../support/eventually.js';
import { workQueueContract } from './work-queue.contract.js';

const HOUR_MS = 3_600_000;

describe('a work queue in one process', () => {
  workQueueContract(async () => {
    const queue = new InProcessWorkQueue({ retryDelayMs: () => 1 });
    return { here: queue, there: queue, close: async () => undefined };
  });

  it('treats the same id as a new item once the deduplication time has passed', async () => {
    let now = 0;
    const queue = new InProcessWorkQueue({ now: () => now });
    const heard: string[] = [];
    await queue.enqueue('work', 'id', 'first');
    now += DEDUPLICATION_MS - 1;
    await queue.enqueue('work', 'id', 'repeated');
    now += 1;
    await queue.enqueue('work', 'id', 'again');
    const stop = new AbortController();
    const worker = queue.consume('work', { concurrency: 1, signal: stop.signal }, async (item) => void heard.push(item));
    await eventually(() => heard.length === 2);
    stop.abort();
    await worker;
    expect(heard).toEqual(['first', 'again']);
  });

  it('does so even if the clock was set back meanwhile', async () => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(HOUR_MS);
    const elapsed = jest.spyOn(performance, 'now').mockReturnValue(0);
    const queue = new InProcessWorkQueue();
    const heard: string[] = [];
    const stop = new AbortController();
    const worker = queue.consume('work', { concurrency: 1, signal: stop.signal }, async (item) => void heard.push(item));
    await queue.enqueue('work', 'id', 'first');
    clock.mockReturnValue(DEDUPLICATION_MS);
    elapsed.mockReturnValue(DEDUPLICATION_MS);
    await queue.enqueue('work', 'id', 'again');
    for (const spy of [clock, elapsed]) spy.mockRestore();
    stop.abort();
    await worker;
    expect(heard).toEqual(['first', 'again']);
  });
});

it('waits longer after each failure, up to half a minute', () => {
  expect([1, 2, 3, 4, 5, 6, 10].map(retryDelayMs)).toEqual([100, 400, 1_600, 6_400, 25_600, 30_000, 30_000]);
});
