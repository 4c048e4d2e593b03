import { describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import {
  answerFrame,
  END_FRAME,
  feedText,
  following,
  LossySignals,
  nothingFollows,
  renderFrames,
  writeFrames,
} from '../../../test/support/message-feeds.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { newId } from '../../kernel/ids.js';
import { Signals } from '../../kernel/signals.js';
import type { Timing } from '../../kernel/timing.js';
import { POLL_UNHEALTHY_MS } from '../../kernel/topics.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../platform/system-timing.js';
import { EXPECTED_READER_MS, type FrameBatch, MessageFeed, READER_BUFFER_BYTES_MAX } from './message-feed.js';
import { FRAME_EVENT, messageStream } from './message.events.js';
import type { Following } from './turn-activity.js';

const never = new AbortController().signal;

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
  await writeFrames(store, feed, 0, answerFrame('a'));
  const live = feedText(feed.tail('m1', -1, nothingFollows, never));
  await writeFrames(store, feed, 1, answerFrame('b'), answerFrame('c'));
  await writeFrames(store, feed, 3, answerFrame('d'), END_FRAME);
  const all = renderFrames(0, answerFrame('a'), answerFrame('b'), answerFrame('c'), answerFrame('d'), END_FRAME);
  expect(await live).toBe(all);
  expect(await feedText(feed.tail('m1', -1, nothingFollows, never))).toBe(all);
  expect(await feedText(feed.tail('m1', 1, nothingFollows, never))).toBe(
    renderFrames(2, answerFrame('c'), answerFrame('d'), END_FRAME),
  );
});

it('ends a reader instead of skipping expired frames', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await writeFrames(store, feed, 0, answerFrame('a'), answerFrame('b'), answerFrame('c'), END_FRAME);
  await store.setRetention(messageStream('m1'), { truncateBefore: 2 });
  expect(await feedText(feed.tail('m1', -1, nothingFollows, never))).toBe('');
  expect(await feedText(feed.tail('m1', 0, nothingFollows, never))).toBe('');
  expect(await feedText(feed.tail('m1', 1, nothingFollows, never))).toBe(renderFrames(2, answerFrame('c'), END_FRAME));
});

it.each([-1, 0, 3])('ends a reader with cursor %i when all frames have expired', async (after) => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await writeFrames(store, feed, 0, answerFrame('a'), answerFrame('b'), answerFrame('c'), answerFrame('d'), END_FRAME);
  await store.setRetention(messageStream('m1'), { truncateBefore: 5 });
  expect(await feedText(feed.tail('m1', after, nothingFollows, never))).toBe('');
});

it('ends a slow reader whose next frames have expired', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await writeFrames(store, undefined, 0, answerFrame('a'));
  const slow = feed.tail('m1', -1, nothingFollows, never);
  await slow.next();
  await writeFrames(store, undefined, 1, answerFrame('b'), END_FRAME);
  await store.setRetention(messageStream('m1'), { truncateBefore: 3 });
  expect(await feedText(slow)).toBe('');
});

it('waits for the first frame of a message', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  const live = feedText(feed.tail('m1', -1, nothingFollows, never));
  await pause(5);
  await writeFrames(store, feed, 0, END_FRAME);
  expect(await live).toBe(renderFrames(0, END_FRAME));
});

it('closes at once when the cursor is at or past the end of a finished message', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await writeFrames(store, feed, 0, answerFrame('a'), END_FRAME);
  expect(await feedText(feed.tail('m1', 1, nothingFollows, never))).toBe('');
  expect(await feedText(feed.tail('m1', 1_000, nothingFollows, never))).toBe('');
});

it('ends a reader whose cursor is past the end once the message is finished', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await writeFrames(store, feed, 0, answerFrame('a'));
  const live = feedText(feed.tail('m1', 1_000, nothingFollows, never));
  await pause(5);
  await writeFrames(store, feed, 1, END_FRAME);
  expect(await live).toBe('');
});

it('continues a reader after a pause with the frames of the resumed run', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await writeFrames(store, feed, 0, answerFrame('a'), END_FRAME);
  const live = feedText(feed.tail('m1', -1, following('more'), never));
  await pause(5);
  await writeFrames(store, feed, 2, answerFrame('b'), END_FRAME);
  expect(await live).toBe(renderFrames(0, answerFrame('a'), END_FRAME, answerFrame('b'), END_FRAME));
});

it.each([
  ['in the first run', 0, 1],
  ['at the end of the pause', 1, 2],
])('continues a reader with a cursor %s to the end of the resumed run', async (_, cursor, from) => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  const asked: number[] = [];
  const follows = async (terminalId: number) => (asked.push(terminalId), terminalId === 1 ? 'more' : 'nothing') as Following;
  await writeFrames(store, feed, 0, answerFrame('a'), END_FRAME);
  const live = feedText(feed.tail('m1', cursor, follows, never));
  await pause(5);
  await writeFrames(store, feed, 2, answerFrame('b'));
  await writeFrames(store, feed, 3, END_FRAME);
  const all = [answerFrame('a'), END_FRAME, answerFrame('b'), END_FRAME];
  expect(await live).toBe(renderFrames(from, ...all.slice(from)));
  expect(await feedText(feed.tail('m1', cursor, follows, never))).toBe(renderFrames(from, ...all.slice(from)));
  expect(asked).toEqual([1, 3]);
});

it('gives a reader with a cursor at the end of a pause the frames that are written while the check for more frames runs', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await writeFrames(store, feed, 0, answerFrame('a'), END_FRAME);
  const follows = async (terminalId: number): Promise<Following> => {
    if (terminalId > 1) return 'nothing';
    await writeFrames(store, undefined, 2, answerFrame('b'), END_FRAME);
    return 'what-is-written';
  };
  expect(await feedText(feed.tail('m1', 1, follows, never))).toBe(renderFrames(2, answerFrame('b'), END_FRAME));
});

it('ends a reader with a cursor at the end of a pause after which nothing was written', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await writeFrames(store, feed, 0, answerFrame('a'), END_FRAME);
  expect(await feedText(feed.tail('m1', 1, following('what-is-written'), never))).toBe('');
});

it('reads the frames of a lost signal from the log when the next signal arrives', async () => {
  const store = new InMemoryEventStore();
  const signals = new LossySignals();
  const feed = new MessageFeed(store, signals, systemTiming);
  const live = feedText(feed.tail('m1', -1, nothingFollows, never));
  await writeFrames(store, feed, 0, answerFrame('a'));
  signals.lost = true;
  await writeFrames(store, feed, 1, answerFrame('b'));
  signals.lost = false;
  await writeFrames(store, feed, 2, answerFrame('c'), END_FRAME);
  expect(await live).toBe(renderFrames(0, answerFrame('a'), answerFrame('b'), answerFrame('c'), END_FRAME));
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
  await writeFrames(store, feed, 0, answerFrame('a'));
  const live = feedText(feed.tail('m1', -1, nothingFollows, never));
  await pause(5);
  signals.lost = true;
  await writeFrames(store, feed, 1, answerFrame('b'));
  signals.lost = false;
  store.readable = 2;
  await writeFrames(store, feed, 2, END_FRAME);
  await pause(5);
  store.readable = Infinity;
  expect(await live).toBe(renderFrames(0, answerFrame('a'), answerFrame('b'), END_FRAME));
});

it('polls the log while signals are unavailable', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  const live = feedText(feed.tail('m1', -1, nothingFollows, never));
  await writeFrames(store, undefined, 0, answerFrame('a'));
  await pause(5);
  await writeFrames(store, undefined, 1, END_FRAME);
  expect(await live).toBe(renderFrames(0, answerFrame('a'), END_FRAME));
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
  await writeFrames(store, undefined, 0, answerFrame('a'));
  const readers = Array.from({ length: 100 }, () => feedText(feed.tail('m1', -1, nothingFollows, new AbortController().signal)));
  await pause(10);
  store.reads = 0;
  await pause(4.5 * POLL_UNHEALTHY_MS);
  expect(store.reads).toBeLessThanOrEqual(5);
  await writeFrames(store, undefined, 1, END_FRAME);
  expect(new Set(await Promise.all(readers))).toEqual(new Set([renderFrames(0, answerFrame('a'), END_FRAME)]));
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
  const live = feedText(feed.tail('m1', -1, nothingFollows, never));
  await writeFrames(store, feed, 0, answerFrame('a'), END_FRAME);
  store.away = false;
  expect(await live).toBe(renderFrames(0, answerFrame('a'), END_FRAME));
});

it('buffers a bounded amount for a slow reader and still delivers all frames in order', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new InProcessSignals(), systemTiming);
  await writeFrames(store, feed, 0, answerFrame('first'));
  const slow = feed.tail('m1', -1, nothingFollows, never);
  const first = await slow.next();
  const big = answerFrame('x'.repeat(10_000));
  const count = Math.ceil((4 * READER_BUFFER_BYTES_MAX) / big.length);
  for (let index = 1; index <= count; index++) await writeFrames(store, feed, index, big);
  await writeFrames(store, feed, count + 1, END_FRAME);
  const rest = await feedText(slow);
  expect((first.value as FrameBatch).text + rest).toBe(
    renderFrames(0, answerFrame('first'), ...Array<string>(count).fill(big), END_FRAME),
  );
});

it('keeps no subscriptions after 10,000 readers have left', async () => {
  const store = new InMemoryEventStore();
  const signals = new InProcessSignals();
  const feed = new MessageFeed(store, signals, systemTiming);
  await writeFrames(store, feed, 0, answerFrame('a'));
  for (let batch = 0; batch < 100; batch++) {
    const leaving = Array.from({ length: 100 }, () => new AbortController());
    const readers = leaving.map(({ signal }) => feedText(feed.tail('m1', -1, nothingFollows, signal)));
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
    await store.append(messageStream(id), 'none', [{ id: newId(), type: FRAME_EVENT, data: answerFrame('a'), metadata: '{}' }]);
  }
  const readers = ids.map((id) => feedText(feed.tail(id, -1, nothingFollows, leaving.signal)));
  await eventually(() => asked.length === 1);
  let reads = 0;
  const read = store.read.bind(store);
  store.read = (...args) => (reads++, read(...args));
  await eventually(() => asked.length === 3);
  expect(asked).toEqual(asked.map(() => new Map(ids.map((id) => [messageStream(id), 0]))));
  expect(reads).toBe(0);
  leaving.abort();
  expect(await Promise.all(readers)).toEqual(ids.map(() => renderFrames(0, answerFrame('a'))));
});

it('ends a reader that waits after a pause when no more frames will follow', async () => {
  const store = new InMemoryEventStore();
  const feed = new MessageFeed(store, new AwaySignals(), systemTiming);
  await writeFrames(store, undefined, 0, answerFrame('a'), END_FRAME);
  let follows: Following = 'more';
  const live = feedText(feed.tail('m1', -1, () => Promise.resolve(follows), never));
  await pause(5);
  follows = 'nothing';
  expect(await live).toBe(renderFrames(0, answerFrame('a'), END_FRAME));
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
    await writeFrames(store, feed, 0, answerFrame('a'));
    const live = feedText(feed.tail('m1', -1, nothingFollows, never));
    await writeFrames(store, feed, 1, answerFrame('b'), END_FRAME);
    expect(await live).toBe(renderFrames(0, answerFrame('a'), answerFrame('b'), END_FRAME));
    expect([reads, signals.subjects]).toEqual([[], 0]);
    expect(await feedText(feed.tail('m1', -1, nothingFollows, never))).toBe(
      renderFrames(0, answerFrame('a'), answerFrame('b'), END_FRAME),
    );
    expect(reads).toEqual([0]);
  });

  it('reads the log when a signal was lost or more was published than the buffer holds', async () => {
    const signals = new LossySignals();
    const { store, reads, feed } = feedOver(signals);
    feed.expect('m1');
    signals.lost = true;
    await writeFrames(store, feed, 0, answerFrame('a'));
    signals.lost = false;
    const live = feedText(feed.tail('m1', -1, nothingFollows, never));
    await writeFrames(store, feed, 1, answerFrame('b'), END_FRAME);
    expect([await live, reads]).toEqual([renderFrames(0, answerFrame('a'), answerFrame('b'), END_FRAME), [0]]);
    const large = answerFrame('x'.repeat(READER_BUFFER_BYTES_MAX));
    feed.expect('m2');
    await store.append(messageStream('m2'), 'none', [{ id: newId(), type: FRAME_EVENT, data: large, metadata: '{}' }]);
    feed.publish('m2', 0, [large]);
    const late = feedText(feed.tail('m2', -1, nothingFollows, never));
    await store.append(messageStream('m2'), 0, [{ id: newId(), type: FRAME_EVENT, data: END_FRAME, metadata: '{}' }]);
    feed.publish('m2', 1, [END_FRAME]);
    expect([await late, reads]).toEqual([renderFrames(0, large, END_FRAME), [0, 0]]);
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
