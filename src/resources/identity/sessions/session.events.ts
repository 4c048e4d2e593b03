import type { Event } from '../../../kernel/event-sourcing/events.js';

/** Why a session ended: by its user, by the provider, or because the user is no longer in a group that may sign in. */
export type SessionEnd = 'signed-out' | 'signed-out-at-provider' | 'not-allowed';

/** A user has signed in at a provider. No event contains the provider's name for the user. */
export type SessionStarted = Event<'SessionStarted', { sessionId: string; userId: string; issuer: string }>;

export type SessionEnded = Event<'SessionEnded', { sessionId: string; userId: string; reason: SessionEnd }>;

/** A user of the provider was refused. `userId` is null if the claim that identifies the user is missing. */
export type SignInRefused = Event<'SignInRefused', { attemptId: string; userId: string | null; reason: string }>;

export type SessionEvent = SessionStarted | SessionEnded | SignInRefused;

/** The stream of a session, or of a refused sign-in. */
export const sessionStream = (id: string): string => `session-${id}`;
