import { expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import {
  answerFrame,
  END_FRAME,
  feedText,
  LossySignals,
  nothingFollows,
  renderFrames,
  writeFrames,
  AwaySignals,
} from '../../../test/support/message-feeds.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { newId } from '../../kernel/ids.js';
import { POLL_UNHEALTHY_MS } from '../../kernel/messaging/topics.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../platform/system-timing.js';
import { MessageFeed } from './message-feed.js';
import { FRAME_EVENT, messageStream } from './message.events.js';

const never = new AbortController().signal;

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
