import type { Event } from '../../kernel/event-sourcing/events.js';
import type { FollowUpSource } from './follow-ups.port.js';

export type FollowUpId = string;

type About<More = unknown> = { conversationId: string } & More;
type AboutFollowUp<More = unknown> = About<{ followUpId: FollowUpId } & More>;

/** Something has happened that the conversation waits for; `text` describes it to the model. */
export type FollowUpRequested = Event<
  'FollowUpRequested',
  AboutFollowUp<{ ownerId: string; source: FollowUpSource; refId: string; dedupeKey: string; text: string }>
>;
/** This turn reports them together, as soon as the conversation is free for it. */
export type FollowUpsGathered = Event<'FollowUpsGathered', About<{ turnId: string; followUpIds: readonly FollowUpId[] }>>;
/** The conversation went on with it. */
export type FollowUpDelivered = Event<'FollowUpDelivered', AboutFollowUp<{ turnId: string }>>;
/** The turn of another follow-up reported it too. */
export type FollowUpMerged = Event<'FollowUpMerged', AboutFollowUp<{ turnId: string }>>;
/** Too much happens by itself: the conversation went on too often in a row, or too many follow-ups wait already. */
export type FollowUpSuppressed = Event<'FollowUpSuppressed', AboutFollowUp<{ reason: 'too-many-in-a-row' | 'too-many-waiting' }>>;
/** There is no conversation any more that it is for. */
export type FollowUpSuperseded = Event<'FollowUpSuperseded', AboutFollowUp>;
/** The conversation cannot go on. */
export type FollowUpFailed = Event<'FollowUpFailed', AboutFollowUp<{ error: string }>>;

export type FollowUpOutcome = FollowUpDelivered | FollowUpMerged | FollowUpSuppressed | FollowUpSuperseded | FollowUpFailed;
export type FollowUpsEvent = FollowUpRequested | FollowUpsGathered | FollowUpOutcome;

export const followUpsStream = (conversationId: string): string => `followUps-${conversationId}`;
