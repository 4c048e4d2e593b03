import type { Cause, Event } from '../../src/kernel/event-sourcing/events.js';
import type { Aggregate } from '../../src/kernel/event-sourcing/streams.js';

/** A stream whose state is the sum of its events. */
export type Counted = Event<'Counted', { by: number }>;
export const counter: Aggregate<number, Counted> = {
  initial: 0,
  evolve: (sum, { data }) => sum + data.by,
  codec: { Counted: [] },
};
export const count = (by: number) => (): readonly Counted[] => [{ type: 'Counted', data: { by } }];
export const cause: Cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' };
export const because = (causationId: string): Cause => ({ ...cause, causationId });
