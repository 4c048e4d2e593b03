import { expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import {
  answerFrame,
  END_FRAME,
  feedText,
  following,
  nothingFollows,
  renderFrames,
  writeFrames,
  AwaySignals,
} from '../../../test/support/message-feeds.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../platform/system-timing.js';
import { MessageFeed } from './message-feed.js';
import { READER_BUFFER_BYTES_MAX } from './frame-reader.js';
import { type FrameBatch } from './frame-batch.js';
import { messageStream } from './message.events.js';
import type { Following } from './turn-activity.js';

const never = new AbortController().signal;

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
