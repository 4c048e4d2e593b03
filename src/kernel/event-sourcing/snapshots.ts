import { type EventStore, eventsBackwards, type StoredEvent } from './event-store.js';
import type { Event } from './events.js';

/** A type of event that says all that those before it have come to. One is looked for among so many of the newest. */
export type SnapshotRule<E extends Event> = Readonly<{ type: E['type']; withinMax: number }>;

/**
 * The events from the newest snapshot on, or from the start of the stream, up to a revision or the end; undefined where neither
 * is near.
 */
export async function eventsSinceSnapshot<E extends Event>(
  store: Pick<EventStore, 'read'>,
  stream: string,
  { type, withinMax }: SnapshotRule<E>,
  upTo?: number,
): Promise<readonly StoredEvent[] | undefined> {
  const newest: StoredEvent[] = [];
  const reading = { limit: withinMax, ...(upTo !== undefined && { from: upTo }) };
  for await (const stored of eventsBackwards(store, stream, reading)) {
    newest.push(stored);
    if (stored.type === type || stored.revision === 0) return newest.reverse();
  }
  return newest.length === 0 ? newest : undefined;
}
