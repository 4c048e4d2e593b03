import type { Event } from '../../kernel/event-sourcing/events.js';

/** An hour of the calendar (UTC), `2026-01-31T09`. */
export type Hour = string;

/** The journals of these answers are no longer kept; what they came to stays in their conversations, and so do their digests. */
export type JournalsExpired = Event<'JournalsExpired', { sealedIn: Hour; turnIds: readonly string[]; expiredAt: string }>;

export type JournalsEvent = JournalsExpired;

/** Of the journals that were sealed in an hour. */
export const journalsStream = (sealedIn: Hour): string => `journals-${sealedIn}`;

export const hourOf = (sealedAt: Date): Hour => sealedAt.toISOString().slice(0, 'yyyy-mm-ddThh'.length);
