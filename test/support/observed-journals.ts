import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { BatchClock } from '../../src/kernel/event-sourcing/batch-clock.js';
import { type ExpectedRevision, type NewEvent, StoreUnavailable } from '../../src/kernel/event-sourcing/event-store.js';
import { Journal } from '../../src/dialogue/journal/journal.js';
import { messageStream } from '../../src/dialogue/journal/message.events.js';
import { MessageDigest } from '../../src/dialogue/journal/message.policy.js';
import { TextPace } from '../../src/dialogue/journal/text-pace.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { eventsOf } from './turns.js';

/** Records the size of each append, and can delay appends or lose their replies. */
export class ObservedStore extends InMemoryEventStore {
  readonly sizes: number[] = [];
  gate: Promise<void> | undefined;
  unanswered = 0;

  override async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) {
    this.sizes.push(events.length);
    await this.gate;
    const appended = await super.append(stream, expected, events);
    if (this.unanswered-- > 0) throw new StoreUnavailable('The answer was lost.');
    return appended;
  }
}

/** A journal of the message `m1`, and what it has published. */
export function journalOver(
  store: ObservedStore,
  writer = 'w1',
  firstWriter = writer,
  clock = new BatchClock(systemTiming),
  pace = new TextPace(),
) {
  const published: string[] = [];
  const publisher = {
    publish: (_: string, first: number, frames: readonly string[]) => void published.push(`${first}+${frames.length}`),
  };
  const options = {
    messageId: 'm1',
    digest: new MessageDigest(),
    writer,
    firstWriter,
    metadata: '{}',
    firstMetadata: '{"first":true}',
  };
  return { journal: new Journal(new Streams(store, systemTiming), publisher, clock, pace, options), published };
}

export const text = (answer: string) => ({ type: 'answer', answer }) as const;
export const thought = (text: string) => ({ type: 'thought', thought: text }) as const;
export const notice = (text: string) => ({ type: 'notice', notice: text }) as const;

/** The frames of the message `m1`. */
export const storedFrames = async (store: ObservedStore) =>
  (await eventsOf(store, messageStream('m1'))).map(({ data }) => JSON.parse(data) as object);
