import type { Event } from '../../kernel/event-sourcing/events.js';
import type { WakeSource } from './wakes.port.js';

export type WakeId = string;

type About<More = unknown> = { conversationId: string } & More;
type AboutWake<More = unknown> = About<{ wakeId: WakeId } & More>;

/** Something has happened that the conversation waits for; `text` is what a model is told of it. */
export type WakeRequested = Event<
  'WakeRequested',
  AboutWake<{ ownerId: string; source: WakeSource; refId: string; dedupeKey: string; text: string }>
>;
/** They are told together, in this turn, as soon as the conversation is free for it. */
export type WakesGathered = Event<'WakesGathered', About<{ turnId: string; wakeIds: readonly WakeId[] }>>;
/** The conversation went on with it. */
export type WakeDelivered = Event<'WakeDelivered', AboutWake<{ turnId: string }>>;
/** It was told in the turn of another one. */
export type WakeFolded = Event<'WakeFolded', AboutWake<{ turnId: string }>>;
/** Too much happens by itself: the conversation went on too often in a row, or too many wakes wait already. */
export type WakeSuppressed = Event<'WakeSuppressed', AboutWake<{ reason: 'too-many-in-a-row' | 'too-many-waiting' }>>;
/** There is no conversation any more that it is for. */
export type WakeSuperseded = Event<'WakeSuperseded', AboutWake>;
/** The conversation cannot go on. */
export type WakeFailed = Event<'WakeFailed', AboutWake<{ error: string }>>;

export type WakeSettled = WakeDelivered | WakeFolded | WakeSuppressed | WakeSuperseded | WakeFailed;
export type WakesEvent = WakeRequested | WakesGathered | WakeSettled;

export const wakesStream = (conversationId: string): string => `wakes-${conversationId}`;
