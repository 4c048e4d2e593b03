import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WorkQueueUnavailable } from '../../src/kernel/messaging/work-queue.js';
import { NatsConnection } from '../../src/platform/messaging/nats/nats-connection.js';
import { NatsWorkQueue } from '../../src/platform/messaging/work-queue/nats-work-queue.js';
import { eventually } from '../support/eventually.js';
import { NatsServer } from '../support/nats-server.js';
import { workQueueContract } from './work-queue.contract.js';

/** Short enough for a test to wait for. */
const SILENCE_MS = 600;
/** Long enough that a worker on a stalled test machine does not count as crashed. */
const LONG_SILENCE_MS = 8_000;

/** Repeats until it succeeds, because deadlines are short here and machines may be slow. */
const surely = (enqueue: () => Promise<void>) => eventually(() => enqueue().then(() => true));

let server: NatsServer;
beforeAll(async () => (server = await NatsServer.start()));
afterAll(() => server.stop());

describe('a work queue over NATS', () => {
  workQueueContract(async () => {
    const [one, two] = [new NatsConnection({ url: server.url }), new NatsConnection({ url: server.url })];
    const quick = { retryDelayMs: () => 1 };
    return {
      here: new NatsWorkQueue(one, quick),
      there: new NatsWorkQueue(two, quick),
      close: async () => void (await Promise.all([one.close(), two.close()])),
    };
  });
});

it('hands the item of a crashed worker to another', async () => {
  const [mortal, other] = [new NatsConnection({ url: server.url }), new NatsConnection({ url: server.url })];
  const stop = new AbortController();
  const options = { concurrency: 1, signal: stop.signal };
  let started = false;
  const heard: string[] = [];
  void new NatsWorkQueue(mortal, { silenceMs: SILENCE_MS }).consume('deadly', options, async () => {
    started = true;
    await new Promise(() => undefined);
  });
  const survivor = new NatsWorkQueue(other, { silenceMs: SILENCE_MS });
  await survivor.enqueue('deadly', 'id', 'item');
  await eventually(() => started);
  await (await mortal.ready()).close();
  const worker = survivor.consume('deadly', options, async (item) => void heard.push(item));
  await eventually(() => heard.length === 1);
  stop.abort();
  await worker;
  await Promise.all([mortal.close(), other.close()]);
});

it('leaves an item with a worker that is slow but alive', async () => {
  const nats = new NatsConnection({ url: server.url });
  const queue = new NatsWorkQueue(nats, { silenceMs: LONG_SILENCE_MS });
  const stop = new AbortController();
  let starts = 0;
  let isDone = false;
  await queue.enqueue('long', 'id', 'item');
  const worker = queue.consume('long', { concurrency: 3, signal: stop.signal }, async () => {
    starts++;
    await new Promise((resolve) => setTimeout(resolve, 2 * LONG_SILENCE_MS));
    isDone = true;
  });
  await eventually(() => isDone);
  stop.abort();
  await worker;
  expect(starts).toBe(1);
  await nats.close();
});

it('keeps its items through a crash of the server, reconnects workers, and still recognises a repeated item', async () => {
  const own = await NatsServer.start();
  const nats = new NatsConnection({ url: own.url, deadlineMs: 300 });
  const queue = new NatsWorkQueue(nats, { silenceMs: LONG_SILENCE_MS });
  const stop = new AbortController();
  const heard: string[] = [];
  const worker = queue.consume('kept', { concurrency: 2, signal: stop.signal }, async (item) => void heard.push(item));
  await surely(() => queue.enqueue('kept', '1', 'before'));
  await eventually(() => heard.length === 1);
  await surely(() => queue.enqueue('later', '1', 'nobody takes it yet'));
  await own.kill();
  await expect(queue.enqueue('kept', '2', 'lost')).rejects.toThrow(WorkQueueUnavailable);
  await own.restart();
  await surely(() => queue.enqueue('kept', '3', 'after'));
  await eventually(() => heard.includes('after'));
  await surely(() => queue.enqueue('later', '1', 'repeated'));
  const late: string[] = [];
  const other = queue.consume('later', { concurrency: 1, signal: stop.signal }, async (item) => void late.push(item));
  await eventually(() => late.length === 1);
  stop.abort();
  await Promise.all([worker, other]);
  expect(heard).toEqual(['before', 'after']);
  expect(late).toEqual(['nobody takes it yet']);
  await nats.close();
  await own.stop();
});

it('recreates its streams on a server that has lost everything', async () => {
  const own = await NatsServer.start();
  const nats = new NatsConnection({ url: own.url, deadlineMs: 300 });
  const queue = new NatsWorkQueue(nats, { silenceMs: LONG_SILENCE_MS });
  const stop = new AbortController();
  const heard: string[] = [];
  const worker = queue.consume('lost', { concurrency: 1, signal: stop.signal }, async (item) => void heard.push(item));
  await surely(() => queue.enqueue('lost', '1', 'before'));
  await eventually(() => heard.length === 1);
  await own.kill();
  await own.empty();
  await own.restart();
  await surely(() => queue.enqueue('lost', '2', 'after'));
  await eventually(() => heard.length === 2);
  stop.abort();
  await worker;
  await nats.close();
  await own.stop();
});
