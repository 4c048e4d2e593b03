import type { Event } from '../../../kernel/event-sourcing/events.js';

/** Why a session is over: its user ended it, the provider did, or the provider's user is not allowed in any more. */
export type SessionEnd = 'signed-out' | 'signed-out-at-provider' | 'not-allowed';

/** A user has signed in at a provider. Who the provider calls them stands in no event. */
export type SessionStarted = Event<'SessionStarted', { sessionId: string; userId: string; issuer: string }>;

export type SessionEnded = Event<'SessionEnded', { sessionId: string; userId: string; reason: SessionEnd }>;

/** A provider's user was turned away; `userId` where they could be named. */
export type SignInRefused = Event<'SignInRefused', { attemptId: string; userId: string | null; reason: string }>;

export type SessionEvent = SessionStarted | SessionEnded | SignInRefused;

/** A session, or an attempt that came to none. */
export const sessionStream = (id: string): string => `session-${id}`;
