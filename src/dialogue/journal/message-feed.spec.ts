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
import { LOOK_UNHEALTHY_MS } from '../../kernel/topics.js';

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

/** Signals that lose what the test wants lost. */
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

it('gives a live reader, a later one and one that comes back the same bytes', async () => {
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

it('ends rather than leave out frames that are no longer kept', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'), answer('b'), answer('c'), END);
  await store.setRetention(messageStream('m1'), { truncateBefore: 2 });
  expect(await textOf(feed.tail('m1', -1, over, never))).toBe('');
  expect(await textOf(feed.tail('m1', 0, over, never))).toBe('');
  expect(await textOf(feed.tail('m1', 1, over, never))).toBe(rendered(2, answer('c'), END));
});

it.each([-1, 0, 3])('ends a reader who has frame %i when none is kept any more', async (after) => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'), answer('b'), answer('c'), answer('d'), END);
  await store.setRetention(messageStream('m1'), { truncateBefore: 5 });
  expect(await textOf(feed.tail('m1', after, over, never))).toBe('');
});

it('ends a reader who was slower than the journal was kept', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await write(store, undefined, 0, answer('a'));
  const slow = feed.tail('m1', -1, over, never);
  await slow.next();
  await write(store, undefined, 1, answer('b'), END);
  await store.setRetention(messageStream('m1'), { truncateBefore: 3 });
  expect(await textOf(slow)).toBe('');
});

it('waits for a message whose first frame is still to come', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  const live = textOf(feed.tail('m1', -1, over, never));
  await pause(5);
  await write(store, feed, 0, END);
  expect(await live).toBe(rendered(0, END));
});

it('closes at once when the cursor lies at or past the end of a finished message', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'), END);
  expect(await textOf(feed.tail('m1', 1, over, never))).toBe('');
  expect(await textOf(feed.tail('m1', 1_000, over, never))).toBe('');
});

it('ends a reader that waits past the end once the message is finished', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'));
  const live = textOf(feed.tail('m1', 1_000, over, never));
  await pause(5);
  await write(store, feed, 1, END);
  expect(await live).toBe('');
});

it('takes a reader through the end of a pause into what comes after it', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await write(store, feed, 0, answer('a'), END);
  const live = textOf(feed.tail('m1', -1, following('more'), never));
  await pause(5);
  await write(store, feed, 2, answer('b'), END);
  expect(await live).toBe(rendered(0, answer('a'), END, answer('b'), END));
});

it.each([
  ['of the first run', 0, 1],
  ['of the end of the pause', 1, 2],
])('takes a reader who comes back with a cursor %s to the end of the resumed run', async (_, cursor, from) => {
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

it('gives a reader who comes back at the end of a pause what a run wrote to its end while that was decided', async () => {
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

it('gives the end to a reader who comes back at the end of a pause after which nothing was written', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await write(store, feed, 0, answer('a'), END);
  expect(await textOf(feed.tail('m1', 1, following('what-is-written'), never))).toBe('');
});

it('finds in the log what a lost signal did not tell, as soon as the next one comes', async () => {
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

it('finds by itself what was signalled behind a lost signal before it could be read', async () => {
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

it('reads the log by itself while there are no signals at all', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  const live = textOf(feed.tail('m1', -1, over, never));
  await write(store, undefined, 0, answer('a'));
  await pause(5);
  await write(store, undefined, 1, END);
  expect(await live).toBe(rendered(0, answer('a'), END));
});

it('looks at the log once for all who wait for the same message, and not again for those who have everything', async () => {
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
  await pause(4.5 * LOOK_UNHEALTHY_MS);
  expect(store.reads).toBeLessThanOrEqual(5);
  await write(store, undefined, 1, END);
  expect(new Set(await Promise.all(readers))).toEqual(new Set([rendered(0, answer('a'), END)]));
});

it('outlives a store that is away', async () => {
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

it('keeps only so much for a reader that does not take it, and still gives it everything in order', async () => {
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

it('leaves nothing behind when 10,000 readers come and go', async () => {
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

it('asks the log for all messages at once, and reads none that has not grown', async () => {
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

it('lets a reader go who waits behind a pause, when nothing more is to come of it', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await write(store, undefined, 0, answer('a'), END);
  let follows: Following = 'more';
  const live = textOf(feed.tail('m1', -1, () => Promise.resolve(follows), never));
  await pause(5);
  follows = 'nothing';
  expect(await live).toBe(rendered(0, answer('a'), END));
});

describe('a reader that was expected before the first frame', () => {
  /** Counts how often frames are read. */
  function feedOver(signals: Signals, timing: Timing = systemTiming) {
    const store = new InMemoryEventStore();
    const texts = store.readTexts.bind(store);
    const reads: number[] = [];
    store.readTexts = (stream, from) => (reads.push(from ?? 0), texts(stream, from));
    return { store, reads, feed: new MessageFeed(store, signals, timing) };
  }

  it('gets all frames, those of before it came too, without a look at the log', async () => {
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

  it('looks at the log where a signal was lost, or where more came than it keeps', async () => {
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

  it('is not waited for when it is forgotten, or has not come in time', async () => {
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
