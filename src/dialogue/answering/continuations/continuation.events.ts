import type { Event } from '../../../kernel/event-sourcing/events.js';

/** The continuation of a paused turn was deleted because the turn is over. */
export type ContinuationDropped = Event<'ContinuationDropped', { turnId: string; sha256: string }>;

export type ContinuationEvent = ContinuationDropped;

/** The stream that records which continuations of a turn were deleted. */
export const continuationStream = (turnId: string): string => `continuation-${turnId}`;
