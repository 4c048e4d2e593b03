import type { Event } from '../../../kernel/event-sourcing/events.js';

/** What a paused turn would have gone on from is no longer kept: the turn is over. */
export type ContinuationDropped = Event<'ContinuationDropped', { turnId: string; sha256: string }>;

export type ContinuationEvent = ContinuationDropped;

/** What was kept beside the log for one turn. */
export const continuationStream = (turnId: string): string => `continuation-${turnId}`;
