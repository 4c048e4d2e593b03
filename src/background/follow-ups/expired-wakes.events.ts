import type { Event } from '../../kernel/event-sourcing/events.js';
import type { WakeId } from './wakes.events.js';

/** Nothing is kept any more of these wakes, which were settled long ago: of their stream, the events from `from` on and before `before` go. */
export type WakesExpired = Event<
  'WakesExpired',
  { conversationId: string; wakeIds: readonly WakeId[]; from: number; before: number; expiredAt: string }
>;

export type ExpiredWakesEvent = WakesExpired;

/** What was forgotten of a conversation's wakes. */
export const expiredWakesStream = (conversationId: string): string => `expiredWakes-${conversationId}`;
