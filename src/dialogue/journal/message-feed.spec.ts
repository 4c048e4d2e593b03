import { describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { FRAME_EVENT, messageStream } from './message.events.js';
import type { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { newId } from '../../kernel/ids.js';
import { Signals } from '../../kernel/signals.js';
import type { Timing } from '../../kernel/timing.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../platform/system-timing.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { EXPECTED_READER_MS, type FrameBatch, MessageFeed, READER_BUFFER_BYTES_MAX } from './message-feed.js';
import type { Following } from './turn-activity.js';
import { POLL_UNHEALTHY_MS } from '../../kernel/topics.js';

const END = '{"type":"end"}';
const answer = (text: string) => JSON.stringify({ type: 'answer', answer: text });
const following = (what: Following) => () => Promise.resolve(what);
const over = following('nothing');
const never = new AbortController().signal;

async function write(store: EventStore, feed: MessageFeed | undefined, first: number, ...frames: string[]): Promise<void> {
  const events = frames.map((data) => ({ id: newId(), type: FRAME_EVENT, data, metadata: '{}' }));
  await store.append(messageStream('m1'), first === 0 ? 'none' : first - 1, events);
  feed?.publish('m1', first, frames);
}

async function textOf(batches: AsyncIterable<FrameBatch>): Promise<string> {
  let text = '';
  for await (const batch of batches) text += batch.text;
  return text;
}

const rendered = (from: number, ...frames: string[]) =>
  frames.map((data, index) => `id: ${from + index}\ndata: ${data}\n\n`).join('');

/** Signals that are dropped while `lost` is true. */
class LossySignals extends InProcessSignals {
  lost = false;
  override publish(subject: string, payload: string): void {
    if (!this.lost) super.publish(subject, payload);
  }
}

class AwaySignals extends Signals {
  readonly healthy = false;
  publish(): void {}
  subscribe(): () => void {
    return () => {};
  }
}

it('gives live, later and reconnecting readers the same bytes', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'));
  const live = textOf(feed.tail('m1', -1, over, never));
  await write(store, feed, 1, answer('b'), answer('c'));
  await write(store, feed, 3, answer('d'), END);
  const all = rendered(0, answer('a'), answer('b'), answer('c'), answer('d'), END);
  expect(await live).toBe(all);
  expect(await textOf(feed.tail('m1', -1, over, never))).toBe(all);
  expect(await textOf(feed.tail('m1', 1, over, never))).toBe(rendered(2, answer('c'), answer('d'), END));
});

it('ends a reader instead of skipping expired frames', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'), answer('b'), answer('c'), END);
  await store.setRetention(messageStream('m1'), { truncateBefore: 2 });
  expect(await textOf(feed.tail('m1', -1, over, never))).toBe('');
  expect(await textOf(feed.tail('m1', 0, over, never))).toBe('');
  expect(await textOf(feed.tail('m1', 1, over, never))).toBe(rendered(2, answer('c'), END));
});

it.each([-1, 0, 3])('ends a reader with cursor %i when all frames have expired', async (after) => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'), answer('b'), answer('c'), answer('d'), END);
  await store.setRetention(messageStream('m1'), { truncateBefore: 5 });
  expect(await textOf(feed.tail('m1', after, over, never))).toBe('');
});

it('ends a slow reader whose next frames have expired', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await write(store, undefined, 0, answer('a'));
  const slow = feed.tail('m1', -1, over, never);
  await slow.next();
  await write(store, undefined, 1, answer('b'), END);
  await store.setRetention(messageStream('m1'), { truncateBefore: 3 });
  expect(await textOf(slow)).toBe('');
});

it('waits for the first frame of a message', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  const live = textOf(feed.tail('m1', -1, over, never));
  await pause(5);
  await write(store, feed, 0, END);
  expect(await live).toBe(rendered(0, END));
});

it('closes at once when the cursor is at or past the end of a finished message', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'), END);
  expect(await textOf(feed.tail('m1', 1, over, never))).toBe('');
  expect(await textOf(feed.tail('m1', 1_000, over, never))).toBe('');
});

it('ends a reader whose cursor is past the end once the message is finished', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'));
  const live = textOf(feed.tail('m1', 1_000, over, never));
  await pause(5);
  await write(store, feed, 1, END);
  expect(await live).toBe('');
});

it('continues a reader after a pause with the frames of the resumed run', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'), END);
  const live = textOf(feed.tail('m1', -1, following('more'), never));
  await pause(5);
  await write(store, feed, 2, answer('b'), END);
  expect(await live).toBe(rendered(0, answer('a'), END, answer('b'), END));
});

it.each([
  ['in the first run', 0, 1],
  ['at the end of the pause', 1, 2],
])('continues a reader with a cursor %s to the end of the resumed run', async (_, cursor, from) => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  const asked: number[] = [];
  const follows = async (terminalId: number) => (asked.push(terminalId), terminalId === 1 ? 'more' : 'nothing') as Following;
  await write(store, feed, 0, answer('a'), END);
  const live = textOf(feed.tail('m1', cursor, follows, never));
  await pause(5);
  await write(store, feed, 2, answer('b'));
  await write(store, feed, 3, END);
  const all = [answer('a'), END, answer('b'), END];
  expect(await live).toBe(rendered(from, ...all.slice(from)));
  expect(await textOf(feed.tail('m1', cursor, follows, never))).toBe(rendered(from, ...all.slice(from)));
  expect(asked).toEqual([1, 3]);
});

it('gives a reader with a cursor at the end of a pause the frames that are written while the check for more frames runs', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await write(store, feed, 0, answer('a'), END);
  const follows = async (terminalId: number): Promise<Following> => {
    if (terminalId > 1) return 'nothing';
    await write(store, undefined, 2, answer('b'), END);
    return 'what-is-written';
  };
  expect(await textOf(feed.tail('m1', 1, follows, never))).toBe(rendered(2, answer('b'), END));
});

it('ends a reader with a cursor at the end of a pause after which nothing was written', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await write(store, feed, 0, answer('a'), END);
  expect(await textOf(feed.tail('m1', 1, following('what-is-written'), never))).toBe('');
});

it('reads the frames of a lost signal from the log when the next signal arrives', async () => {
  const store = new InMemoryEventStore();
  const signals = new LossySignals();
  const feed = new MessageFeed(store, signals, systemTiming);
  const live = textOf(feed.tail('m1', -1, over, never));
  await write(store, feed, 0, answer('a'));
  signals.lost = true;
  await write(store, feed, 1, answer('b'));
  signals.lost = false;
  await write(store, feed, 2, answer('c'), END);
  expect(await live).toBe(rendered(0, answer('a'), answer('b'), answer('c'), END));
});

it('polls for a frame that the log did not show yet when its signal arrived after a lost one', async () => {
  const store = new (class extends InMemoryEventStore {
    readable = Infinity;
    override async *read(...args: Parameters<InMemoryEventStore['read']>) {
      for await (const page of super.read(...args)) {
        const readable = page.filter(({ revision }) => revision < this.readable);
        if (readable.length > 0) yield readable;
      }
    }
    override async lastRevision(stream: string) {
      const last = await super.lastRevision(stream);
      return last === 'none' ? last : Math.min(last, this.readable - 1);
    }
  })();
  const signals = new (class extends LossySignals {
    override readonly healthy = false as true;
  })();
  const feed = new MessageFeed(store, signals, systemTiming);
  await write(store, feed, 0, answer('a'));
  const live = textOf(feed.tail('m1', -1, over, never));
  await pause(5);
  signals.lost = true;
  await write(store, feed, 1, answer('b'));
  signals.lost = false;
  store.readable = 2;
  await write(store, feed, 2, END);
  await pause(5);
  store.readable = Infinity;
  expect(await live).toBe(rendered(0, answer('a'), answer('b'), END));
});

it('polls the log while signals are unavailable', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  const live = textOf(feed.tail('m1', -1, over, never));
  await write(store, undefined, 0, answer('a'));
  await pause(5);
  await write(store, undefined, 1, END);
  expect(await live).toBe(rendered(0, answer('a'), END));
});

it('polls the log once for all readers of a message, and reads nothing for readers that have every frame', async () => {
  const store = new (class extends InMemoryEventStore {
    reads = 0;
    override read(...args: Parameters<InMemoryEventStore['read']>) {
      this.reads++;
      return super.read(...args);
    }
  })();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await write(store, undefined, 0, answer('a'));
  const readers = Array.from({ length: 100 }, () => textOf(feed.tail('m1', -1, over, new AbortController().signal)));
  await pause(10);
  store.reads = 0;
  await pause(4.5 * POLL_UNHEALTHY_MS);
  expect(store.reads).toBeLessThanOrEqual(5);
  await write(store, undefined, 1, END);
  expect(new Set(await Promise.all(readers))).toEqual(new Set([rendered(0, answer('a'), END)]));
});

it('survives an outage of the store', async () => {
  const store = new (class extends InMemoryEventStore {
    away = true;
    override async *read(...args: Parameters<InMemoryEventStore['read']>) {
      if (this.away) throw new StoreUnavailable('away');
      yield* super.read(...args);
    }
  })();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  const live = textOf(feed.tail('m1', -1, over, never));
  await write(store, feed, 0, answer('a'), END);
  store.away = false;
  expect(await live).toBe(rendered(0, answer('a'), END));
});

it('buffers a bounded amount for a slow reader and still delivers all frames in order', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('first'));
  const slow = feed.tail('m1', -1, over, never);
  const first = await slow.next();
  const big = answer('x'.repeat(10_000));
  const count = Math.ceil((4 * READER_BUFFER_BYTES_MAX) / big.length);
  for (let index = 1; index <= count; index++) await write(store, feed, index, big);
  await write(store, feed, count + 1, END);
  const rest = await textOf(slow);
  expect((first.value as FrameBatch).text + rest).toBe(rendered(0, answer('first'), ...Array<string>(count).fill(big), END));
});

it('keeps no subscriptions after 10,000 readers have left', async () => {
  const store = new InMemoryEventStore();
  const signals = new InProcessSignals();
  const feed = new MessageFeed(store, signals, systemTiming);
  await write(store, feed, 0, answer('a'));
  for (let batch = 0; batch < 100; batch++) {
    const leaving = Array.from({ length: 100 }, () => new AbortController());
    const readers = leaving.map(({ signal }) => textOf(feed.tail('m1', -1, over, signal)));
    await pause(0);
    for (const controller of leaving) controller.abort();
    await Promise.all(readers);
  }
  expect(signals.subjects).toBe(0);
});

it('checks all messages for growth with one query and reads only those that have grown', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  const asked: ReadonlyMap<string, number>[] = [];
  const grownPast = store.grownPast.bind(store);
  store.grownPast = (known) => {
    asked.push(known);
    return grownPast(known);
  };
  const leaving = new AbortController();
  const ids = ['m1', 'm2', 'm3'];
  for (const id of ids) {
    await store.append(messageStream(id), 'none', [{ id: newId(), type: FRAME_EVENT, data: answer('a'), metadata: '{}' }]);
  }
  const readers = ids.map((id) => textOf(feed.tail(id, -1, over, leaving.signal)));
  await eventually(() => asked.length === 1);
  let reads = 0;
  const read = store.read.bind(store);
  store.read = (...args) => (reads++, read(...args));
  await eventually(() => asked.length === 3);
  expect(asked).toEqual(asked.map(() => new Map(ids.map((id) => [messageStream(id), 0]))));
  expect(reads).toBe(0);
  leaving.abort();
  expect(await Promise.all(readers)).toEqual(ids.map(() => rendered(0, answer('a'))));
});

it('ends a reader that waits after a pause when no more frames will follow', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await write(store, undefined, 0, answer('a'), END);
  let follows: Following = 'more';
  const live = textOf(feed.tail('m1', -1, () => Promise.resolve(follows), never));
  await pause(5);
  follows = 'nothing';
  expect(await live).toBe(rendered(0, answer('a'), END));
});

describe('a reader that is expected before the first frame', () => {
  /** A feed over a store that records the start of each read of frames. */
  function feedOver(signals: Signals, timing: Timing = systemTiming) {
    const store = new InMemoryEventStore();
    const texts = store.readTexts.bind(store);
    const reads: number[] = [];
    store.readTexts = (stream, from) => (reads.push(from ?? 0), texts(stream, from));
    return { store, reads, feed: new MessageFeed(store, signals, timing) };
  }

  it('gets all frames, also those published before it connected, without a read of the log', async () => {
    const signals = new InProcessSignals();
    const { store, reads, feed } = feedOver(signals);
    feed.expect('m1');
    await write(store, feed, 0, answer('a'));
    const live = textOf(feed.tail('m1', -1, over, never));
    await write(store, feed, 1, answer('b'), END);
    expect(await live).toBe(rendered(0, answer('a'), answer('b'), END));
    expect([reads, signals.subjects]).toEqual([[], 0]);
    expect(await textOf(feed.tail('m1', -1, over, never))).toBe(rendered(0, answer('a'), answer('b'), END));
    expect(reads).toEqual([0]);
  });

  it('reads the log when a signal was lost or more was published than the buffer holds', async () => {
    const signals = new LossySignals();
    const { store, reads, feed } = feedOver(signals);
    feed.expect('m1');
    signals.lost = true;
    await write(store, feed, 0, answer('a'));
    signals.lost = false;
    const live = textOf(feed.tail('m1', -1, over, never));
    await write(store, feed, 1, answer('b'), END);
    expect([await live, reads]).toEqual([rendered(0, answer('a'), answer('b'), END), [0]]);
    const large = answer('x'.repeat(READER_BUFFER_BYTES_MAX));
    feed.expect('m2');
    await store.append(messageStream('m2'), 'none', [{ id: newId(), type: FRAME_EVENT, data: large, metadata: '{}' }]);
    feed.publish('m2', 0, [large]);
    const late = textOf(feed.tail('m2', -1, over, never));
    await store.append(messageStream('m2'), 0, [{ id: newId(), type: FRAME_EVENT, data: END, metadata: '{}' }]);
    feed.publish('m2', 1, [END]);
    expect([await late, reads]).toEqual([rendered(0, large, END), [0, 0]]);
  });

  it('leaves no subscription when it is cancelled or does not connect in time', async () => {
    const signals = new InProcessSignals();
    const timing = new VirtualTiming();
    const { feed } = feedOver(signals, timing);
    feed.expect('m1')();
    expect(signals.subjects).toBe(0);
    feed.expect('m2');
    await timing.pause(EXPECTED_READER_MS);
    expect(signals.subjects).toBe(0);
  });
});
