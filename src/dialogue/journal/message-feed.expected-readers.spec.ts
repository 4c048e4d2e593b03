import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import {
  answerFrame,
  END_FRAME,
  feedText,
  LossySignals,
  nothingFollows,
  renderFrames,
  writeFrames,
} from '../../../test/support/message-feeds.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { newId } from '../../kernel/ids.js';
import { type Signals } from '../../kernel/messaging/signals.js';
import type { Timing } from '../../kernel/timing.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../platform/system-timing.js';
import { EXPECTED_READER_MS, MessageFeed } from './message-feed.js';
import { READER_BUFFER_BYTES_MAX } from './frame-reader.js';
import { FRAME_EVENT, messageStream } from './message.events.js';

const never = new AbortController().signal;

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
