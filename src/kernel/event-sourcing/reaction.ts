import type { Codec } from './codec.js';
import type { LogFilter } from './event-store.js';
import type { Event, Recorded } from './events.js';

/**
 * Acts on one event. Events are delivered at least once, so a reaction checks what is done already and derives its ids from the
 * event. A reaction that waits for long stops and throws when the signal aborts: its successor gets the event again.
 */
type ReactionHandler<E extends Event> = { act(event: Recorded<E>, signal: AbortSignal): Promise<void> }['act'];

export type ReactionHandlers<E extends Event> = { readonly [Type in E['type']]?: ReactionHandler<Extract<E, { type: Type }>> };

/**
 * Follows the log and acts in the world. Its name is its checkpoint and never changes. Events of one stream come in
 * order, one at a time; those of different streams may come side by side.
 */
export type Reaction<E extends Event = Event> = Readonly<{
  name: string;
  codec: Codec<E>;
  on: ReactionHandlers<E>;
  /** How many events are acted on side by side; 8 by default. */
  concurrency?: number;
  /** Where it begins when it runs for the first time ever: with the whole log (the default), or with what comes next. */
  begins?: 'with-the-log' | 'now';
}> &
  LogFilter;
