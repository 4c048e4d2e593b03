import { LRUCache } from 'lru-cache';
import { decode } from '../../kernel/event-sourcing/codec.js';
import type { EventStore, StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import { eventsSinceSnapshot } from '../../kernel/event-sourcing/snapshots.js';
import type { Folding, NotificationRule } from '../../kernel/event-sourcing/notifications.js';

/** Folds the streams of one rule up to an event. */
export class NotifiedStreams {
  private readonly cached: LRUCache<string, Readonly<{ revision: number; state: unknown }>> | undefined;

  constructor(
    private readonly store: EventStore,
    readonly rule: NotificationRule,
  ) {
    this.cached = rule.cachedMax ? new LRUCache({ max: rule.cachedMax }) : undefined;
  }

  /** The state before and after the event. */
  async around(event: Recorded): Promise<Readonly<{ before: unknown; after: unknown }>> {
    const { stream, revision } = event;
    const { foldedMax = Infinity, evolve } = this.rule;
    const cached = this.cached?.get(stream);
    const before =
      cached?.revision === revision - 1
        ? cached.state
        : await folded(this.store, stream, this.rule, Math.min(revision, foldedMax));
    const after = revision < foldedMax ? evolve(before, event) : before;
    this.cached?.set(stream, { revision, state: after });
    return { before, after };
  }
}

/** The state before the event of a revision, or after all events. A purge may have deleted the first events of the stream. */
export async function folded(
  store: EventStore,
  stream: string,
  { codec, initial, evolve, snapshot }: Folding,
  before?: number,
): Promise<unknown> {
  let state = initial;
  if (before === 0) return state;
  const add = (stored: StoredEvent): void => {
    const event = decode(codec, stored);
    if (event) state = evolve(state, event);
  };
  const newest = snapshot && (await eventsSinceSnapshot(store, stream, snapshot, before === undefined ? undefined : before - 1));
  if (newest) {
    newest.forEach(add);
    return state;
  }
  for await (const page of store.read(stream, before === undefined ? {} : { limit: before })) {
    for (const stored of page) {
      if (before !== undefined && stored.revision >= before) return state;
      add(stored);
    }
  }
  return state;
}
