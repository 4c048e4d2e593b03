import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { ATTEMPTS_MAX, PAYLOAD_BYTES_MAX, type WorkQueue } from '../../src/kernel/messaging/work-queue.js';
import { eventually } from '../support/eventually.js';

/** Two parts of the service, in two processes if the adapter spans processes. Retries follow within milliseconds. */
export type WorkQueuesUnderTest = Readonly<{ here: WorkQueue; there: WorkQueue; close: () => Promise<void> }>;

type Handler = (payload: string) => Promise<void>;

export function workQueueContract(setUp: () => Promise<WorkQueuesUnderTest>): void {
  let queues: WorkQueuesUnderTest;
  let here: WorkQueue;
  let there: WorkQueue;
  let queue: string;
  let stop: AbortController;
  let workers: Promise<void>[];
  beforeAll(async () => {
    queues = await setUp();
    ({ here, there } = queues);
  });
  beforeEach(() => {
    queue = `work-${newId()}`;
    stop = new AbortController();
    workers = [];
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(workers);
  });
  afterAll(() => queues.close());

  const work = (at: WorkQueue, handler: Handler, concurrency = 1, signal = stop.signal): Promise<void> => {
    const worker = at.consume(queue, { concurrency, signal }, handler);
    workers.push(worker);
    return worker;
  };
  const enqueue = async (...items: readonly string[]): Promise<void> => {
    for (const item of items) await here.enqueue(queue, item, item);
  };

  it('hands each item to one of two workers that share them, whether it was enqueued before or after they started', async () => {
    const done: string[][] = [[], []];
    const items = Array.from({ length: 40 }, (_, n) => `${n}`);
    await enqueue(...items.slice(0, 20));
    const slowly = (mine: string[]) => async (payload: string) => {
      mine.push(payload);
      await eventually(() => done.every(({ length }) => length > 0));
    };
    void work(here, slowly(done[0]!));
    void work(there, slowly(done[1]!));
    await enqueue(...items.slice(20));
    await eventually(() => done.flat().length === items.length);
    expect(done.flat().toSorted((a, b) => Number(a) - Number(b))).toEqual(items);
    expect(Math.min(...done.map((mine) => mine.length))).toBeGreaterThan(0);
  });

  it('hands over the payload byte for byte, and only the items of its own queue', async () => {
    const heard: string[] = [];
    const payload = 'ünï\u0000\n{"a":"b"}';
    await here.enqueue(`${queue}-other`, '1', 'other');
    await here.enqueue(queue, '1', payload);
    await here.enqueue(queue, '2', '');
    void work(there, async (item) => void heard.push(item));
    await eventually(() => heard.length === 2);
    expect(heard.toSorted()).toEqual(['', payload]);
  });

  it('runs as many handlers at a time as its concurrency, and no more', async () => {
    let now = 0;
    let most = 0;
    let done = 0;
    await enqueue(...Array.from({ length: 12 }, (_, n) => `${n}`));
    void work(
      here,
      async () => {
        most = Math.max(most, ++now);
        await eventually(() => most === 3);
        await new Promise((resolve) => setTimeout(resolve, 20));
        now--;
        done++;
      },
      3,
    );
    await eventually(() => done === 12);
    expect(most).toBe(3);
  });

  it('keeps many slots busy, and divides a burst among workers that all have free slots', async () => {
    const done: string[][] = [[], []];
    const items = Array.from({ length: 300 }, (_, n) => `${n}`);
    const briefly = (mine: string[]) => async (payload: string) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      mine.push(payload);
    };
    void work(here, briefly(done[0]!), 500);
    void work(there, briefly(done[1]!), 500);
    for (let n = 0; done.some(({ length }) => length === 0); n++) {
      await enqueue(`both are there ${n}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await Promise.all(items.map((item) => here.enqueue(queue, item, item)));
    const told = () => done.flat().filter((item) => items.includes(item));
    await eventually(() => told().length === items.length);
    expect(told().toSorted((a, b) => Number(a) - Number(b))).toEqual(items);
    expect(Math.min(...done.map((mine) => mine.length))).toBeGreaterThan(50);
  });

  it('treats the same id as the same item, while it waits and after it is done', async () => {
    const heard: string[] = [];
    await enqueue('once', 'once', 'other');
    void work(there, async (item) => void heard.push(item));
    await eventually(() => heard.length === 2);
    await enqueue('once', 'last');
    await eventually(() => heard.includes('last'));
    expect(heard.toSorted()).toEqual(['last', 'once', 'other']);
  });

  it('treats the same id in another queue as another item', async () => {
    const heard: string[] = [];
    await here.enqueue(`${queue}-other`, 'same', 'other');
    await here.enqueue(queue, 'same', 'mine');
    void work(here, async (item) => void heard.push(item));
    await eventually(() => heard.length === 1);
    expect(heard).toEqual(['mine']);
  });

  it('hands an item out again whose handler failed, without delaying the others', async () => {
    const heard: string[] = [];
    await enqueue('bad', 'good');
    void work(here, async (item) => {
      heard.push(item);
      if (item === 'bad' && heard.filter((each) => each === 'bad').length < 3) throw new Error('Not yet.');
    });
    await eventually(() => heard.length === 4);
    expect(heard.toSorted()).toEqual(['bad', 'bad', 'bad', 'good']);
  });

  it('drops an item that has failed too often', async () => {
    let attempts = 0;
    const heard: string[] = [];
    await enqueue('hopeless');
    void work(here, async (item) => {
      if (item !== 'hopeless') return void heard.push(item);
      attempts++;
      throw new Error('Never.');
    });
    await eventually(() => attempts === ATTEMPTS_MAX);
    await enqueue('next');
    await eventually(() => heard.length === 1);
    expect(attempts).toBe(ATTEMPTS_MAX);
  });

  it('finishes the current item when it is stopped, and leaves the rest to other workers', async () => {
    const own = new AbortController();
    const heard: string[] = [];
    let finish: (() => void) | undefined;
    await enqueue('in hand', 'left');
    const worker = work(
      here,
      async (item) => {
        heard.push(`here started ${item}`);
        await new Promise<void>((resolve) => (finish = resolve));
        heard.push(`here finished ${item}`);
      },
      1,
      own.signal,
    );
    await eventually(() => finish !== undefined);
    own.abort();
    void work(there, async (item) => void heard.push(`there ${item}`));
    await eventually(() => heard.length === 2);
    finish!();
    await worker;
    expect(heard.filter((each) => each.startsWith('here'))).toEqual([
      expect.stringContaining('started'),
      expect.stringContaining('finished'),
    ]);
    expect(heard).toHaveLength(3);
  });

  it('ends at once when it is stopped without work, or was stopped before it began', async () => {
    const own = new AbortController();
    const worker = work(here, async () => undefined, 4, own.signal);
    own.abort();
    await worker;
    await work(here, async () => undefined, 4, own.signal);
  });

  it('refuses a payload over the limit', async () => {
    await expect(here.enqueue(queue, '1', 'x'.repeat(PAYLOAD_BYTES_MAX + 1))).rejects.toThrow(RangeError);
    await here.enqueue(queue, '1', 'x'.repeat(PAYLOAD_BYTES_MAX));
  });
}
