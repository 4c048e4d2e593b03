import type { Event } from '../../kernel/event-sourcing/events.js';
import type { FollowUpId } from './follow-ups.events.js';

/** These follow-ups ended long ago and are purged: their stream loses the events from `from` up to, and without, `before`. */
export type FollowUpsExpired = Event<
  'FollowUpsExpired',
  { conversationId: string; followUpIds: readonly FollowUpId[]; from: number; before: number; expiredAt: string }
>;

export type ExpiredFollowUpsEvent = FollowUpsExpired;

/** Which follow-ups of a conversation were purged. */
export const expiredFollowUpsStream = (conversationId: string): string => `expiredFollowUps-${conversationId}`;
