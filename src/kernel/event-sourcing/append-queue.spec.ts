import { beforeEach, describe, expect, it } from '@jest/globals';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { AppendQueue, type Place, QUEUE_LENGTH_MAX, QUEUE_STALL_MS } from './append-queue.js';

const PATIENCE_MS = 60_000;
const never = new Promise<never>(() => undefined);

let timing: VirtualTiming;
let queue: AppendQueue;
let began: string[];
beforeEach(() => {
  timing = new VirtualTiming();
  queue = new AppendQueue(timing);
  began = [];
});

/** Work of a given duration on the stream `s` or another one. */
const work = (name: string, ms: number, { stream = 's', patienceMs = PATIENCE_MS } = {}) =>
  queue.run(stream, patienceMs, async ({ waited }) => {
    began.push(name);
    await timing.pause(ms);
    return { name, waited, at: timing.elapsedMs() };
  });

describe('callers that append to one stream', () => {
  it('run one after another, first in, first out', async () => {
    const done = await Promise.all([work('a', 100), work('b', 100), work('c', 100)]);
    expect(done).toEqual([
      { name: 'a', waited: false, at: 100 },
      { name: 'b', waited: true, at: 200 },
      { name: 'c', waited: true, at: 300 },
    ]);
  });

  it('do not delay callers of another stream', async () => {
    const [, other] = await Promise.all([work('a', 100), work('b', 100, { stream: 'other' })]);
    expect(other).toEqual({ name: 'b', waited: false, at: 100 });
  });

  it('do not wait after the queue has emptied', async () => {
    await Promise.all([work('a', 1), work('b', 1)]);
    expect((await work('c', 1)).waited).toBe(false);
  });

  it('run after a caller that failed', async () => {
    const failing = queue.run('s', PATIENCE_MS, () => Promise.reject(new Error('failed')));
    const next = work('b', 1);
    await expect(failing).rejects.toThrow('failed');
    expect((await next).waited).toBe(true);
  });

  it('do not wait for a stalled caller in front: the next one moves to the front and the others wait for it', async () => {
    void queue.run('s', PATIENCE_MS, () => never);
    const done = await Promise.all([work('b', 100), work('c', 100)]);
    expect(done.map(({ at }) => at)).toEqual([QUEUE_STALL_MS + 100, QUEUE_STALL_MS + 200]);
    expect(await work('d', 100)).toEqual({ name: 'd', waited: false, at: QUEUE_STALL_MS + 300 });
  });

  it('are started only by the caller in front, not by a stalled caller that ends later', async () => {
    const slow = work('a', QUEUE_STALL_MS + 50);
    const done = await Promise.all([slow, work('b', 100), work('c', 100)]);
    expect(done.map(({ at }) => at)).toEqual([QUEUE_STALL_MS + 50, QUEUE_STALL_MS + 100, QUEUE_STALL_MS + 200]);
  });

  it('are started twice as many at a time while none of them makes progress', async () => {
    const hanging = () => queue.run('s', PATIENCE_MS, () => (began.push('one'), never));
    for (let count = 0; count < 20; count++) void hanging();
    const begun: number[] = [];
    for (let stall = 0; stall < 4; stall++) {
      await timing.pause(QUEUE_STALL_MS - (stall === 0 ? 1 : 0));
      begun.push(began.length);
    }
    expect(begun).toEqual([1, 2, 4, 8]);
  });

  it('are started one at a time again after one of them makes progress', async () => {
    void queue.run('s', PATIENCE_MS, () => never);
    const losing = ({ progressed }: Place) => timing.pause(QUEUE_STALL_MS / 2).then(() => (progressed(), never));
    void queue.run('s', PATIENCE_MS, losing);
    const done = await Promise.all([work('c', 100), work('d', 100)]);
    expect(done.map(({ at }) => at)).toEqual([2.5 * QUEUE_STALL_MS + 100, 2.5 * QUEUE_STALL_MS + 200]);
  });

  it('keep waiting while the caller in front makes progress', async () => {
    const slow = queue.run('s', PATIENCE_MS, async ({ progressed }) => {
      for (let step = 0; step < 5; step++) {
        await timing.pause(QUEUE_STALL_MS - 1);
        progressed();
      }
    });
    const next = work('b', 0);
    await slow;
    expect((await next).at).toBe(5 * (QUEUE_STALL_MS - 1));
  });

  it('stop waiting after their patience', async () => {
    const first = work('a', QUEUE_STALL_MS - 1);
    const hasty = await work('b', 0, { patienceMs: 10 });
    expect([hasty, began]).toEqual([{ name: 'b', waited: true, at: 10 }, ['a', 'b']]);
    await first;
  });

  it('start at once when the queue is full', async () => {
    const line = Array.from({ length: QUEUE_LENGTH_MAX + 1 }, (_, index) => work(`in line ${index}`, 1));
    const further = await work('further', 0);
    expect(further).toEqual({ name: 'further', waited: false, at: 0 });
    const done = await Promise.all(line);
    expect(done.at(-1)).toEqual({ name: `in line ${QUEUE_LENGTH_MAX}`, waited: true, at: QUEUE_LENGTH_MAX + 1 });
  });
});
