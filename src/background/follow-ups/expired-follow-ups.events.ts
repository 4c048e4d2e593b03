import type { Event } from '../../kernel/event-sourcing/events.js';
import type { FollowUpId } from './follow-ups.events.js';

/** Nothing is kept any more of these follow-ups, which were settled long ago: of their stream, the events from `from` on and before `before` go. */
export type FollowUpsExpired = Event<
  'FollowUpsExpired',
  { conversationId: string; followUpIds: readonly FollowUpId[]; from: number; before: number; expiredAt: string }
>;

export type ExpiredFollowUpsEvent = FollowUpsExpired;

/** What was purged of a conversation's follow-ups. */
export const expiredFollowUpsStream = (conversationId: string): string => `expiredFollowUps-${conversationId}`;
