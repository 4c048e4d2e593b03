import { Signals } from '../../src/kernel/messaging/signals.js';
import type { MessageFeed } from '../../src/dialogue/journal/message-feed.js';
import type { FrameBatch } from '../../src/dialogue/journal/frame-batch.js';
import { FRAME_EVENT, messageStream } from '../../src/dialogue/journal/message.events.js';
import type { Following } from '../../src/dialogue/journal/turn-activity.js';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { newId } from '../../src/kernel/ids.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';

/** Frames of the message m1 as text, their append, and what a reader gets of them. */
export const END_FRAME = '{"type":"end"}';
export const answerFrame = (text: string) => JSON.stringify({ type: 'answer', answer: text });
/** What a check for more frames finds. */
export const following = (what: Following) => () => Promise.resolve(what);
export const nothingFollows = following('nothing');

export async function writeFrames(
  store: EventStore,
  feed: MessageFeed | undefined,
  first: number,
  ...frames: string[]
): Promise<void> {
  const events = frames.map((data) => ({ id: newId(), type: FRAME_EVENT, data, metadata: '{}' }));
  await store.append(messageStream('m1'), first === 0 ? 'none' : first - 1, events);
  feed?.publish('m1', first, frames);
}

export async function feedText(batches: AsyncIterable<FrameBatch>): Promise<string> {
  let text = '';
  for await (const batch of batches) text += batch.text;
  return text;
}

export const renderFrames = (from: number, ...frames: string[]) =>
  frames.map((data, index) => `id: ${from + index}\ndata: ${data}\n\n`).join('');

/** Signals that are dropped while `lost` is true. */
export class LossySignals extends InProcessSignals {
  lost = false;
  override publish(subject: string, payload: string): void {
    if (!this.lost) super.publish(subject, payload);
  }
}

/** Signals that are always unavailable. */
export class AwaySignals extends Signals {
  readonly healthy = false;
  publish(): void {}
  subscribe(): () => void {
    return () => {};
  }
}
