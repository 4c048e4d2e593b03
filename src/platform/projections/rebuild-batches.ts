import type { LogPage, StoredEvent } from '../../kernel/event-sourcing/event-store.js';

/** Size of a transaction: large enough to make its overhead small, small enough to repeat after a kill. */
const BATCH_EVENTS_MAX = 2_000;
const BATCH_CHARACTERS_MAX = 16 * 1024 * 1024;

type Batch = Pick<LogPage, 'events' | 'position'>;

/** Merges pages of the log into larger batches, up to a position or to the page after which it is over. */
export async function* batchesUpTo(target: bigint, source: AsyncIterable<LogPage>, isOver: () => boolean): AsyncIterable<Batch> {
  let events: StoredEvent[] = [];
  let characters = 0;
  let position: bigint | undefined;
  for await (const page of source) {
    for (const event of page.events) {
      if (event.position > target) break;
      events.push(event);
      characters += event.data.length + event.metadata.length;
    }
    position = page.position < target ? page.position : target;
    if (isOver() || position === target) break;
    if (events.length < BATCH_EVENTS_MAX && characters < BATCH_CHARACTERS_MAX) continue;
    yield { events, position };
    [events, characters, position] = [[], 0, undefined];
  }
  if (position !== undefined) yield { events, position };
}
