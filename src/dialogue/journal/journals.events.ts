import type { Event } from '../../kernel/event-sourcing/events.js';

/** A calendar hour in UTC, such as `2026-01-31T09`. */
export type Hour = string;

/** The journals of these answers have expired. The answers and the digests remain in their conversations. */
export type JournalsExpired = Event<'JournalsExpired', { sealedIn: Hour; turnIds: readonly string[]; expiredAt: string }>;

export type JournalsEvent = JournalsExpired;

export const journalsStream = (sealedIn: Hour): string => `journals-${sealedIn}`;

export const hourOf = (sealedAt: Date): Hour => sealedAt.toISOString().slice(0, 'yyyy-mm-ddThh'.length);
