import { type EventStore, eventsBackwards, type StoredEvent } from './event-store.js';
import type { Event } from './events.js';

/** The event type that restates the state of its stream, and how many of the newest events are searched for it. */
export type SnapshotRule<E extends Event> = Readonly<{ type: E['type']; withinMax: number }>;

/**
 * The events from the newest snapshot, or from the start of the stream, up to a revision or the end. Undefined if neither is among
 * the newest `withinMax` events.
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
