import type { Codec } from './codec.js';
import type { LogFilter } from './event-store.js';
import type { Event, Recorded } from './events.js';

/**
 * Acts on one event. Delivery is at least once, so a reaction checks what is already done and derives ids from the event. A
 * reaction that waits throws when the signal aborts; the next holder of the reaction receives the event again.
 */
type ReactionHandler<E extends Event> = { act(event: Recorded<E>, signal: AbortSignal): Promise<void> }['act'];

export type ReactionHandlers<E extends Event> = { readonly [Type in E['type']]?: ReactionHandler<Extract<E, { type: Type }>> };

/**
 * Follows the log and causes effects. Its name identifies its checkpoint and never changes. Events of one stream are delivered in
 * order, one at a time; events of different streams may be delivered concurrently.
 */
export type Reaction<E extends Event = Event> = Readonly<{
  name: string;
  codec: Codec<E>;
  on: ReactionHandlers<E>;
  /** Maximum number of events that are processed concurrently; 8 by default. */
  concurrency?: number;
  /** Where the first run ever starts: at the beginning of the log (the default), or at its present end. */
  begins?: 'with-the-log' | 'now';
}> &
  LogFilter;
