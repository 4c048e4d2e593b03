import { deterministicId } from '../../kernel/ids.js';
import type { Event } from '../../kernel/event-sourcing/events.js';
import type { FollowUpSource } from './follow-ups.port.js';

export type FollowUpId = string;

type About<More = unknown> = { conversationId: string } & More;
type AboutFollowUp<More = unknown> = About<{ followUpId: FollowUpId } & More>;

/** Something happened that the conversation waits for. `text` describes it to the model. */
export type FollowUpRequested = Event<
  'FollowUpRequested',
  AboutFollowUp<{ ownerId: string; source: FollowUpSource; refId: string; dedupeKey: string; text: string }>
>;
/** One turn will report these follow-ups together as soon as the conversation is free. */
export type FollowUpsGathered = Event<'FollowUpsGathered', About<{ turnId: string; followUpIds: readonly FollowUpId[] }>>;
/** An automatic turn that reports the follow-up was asked. */
export type FollowUpDelivered = Event<'FollowUpDelivered', AboutFollowUp<{ turnId: string }>>;
/** The turn of another follow-up also reports this one. */
export type FollowUpMerged = Event<'FollowUpMerged', AboutFollowUp<{ turnId: string }>>;
/** The follow-up was dropped, because the conversation had too many automatic turns in a row or too many waiting follow-ups. */
export type FollowUpSuppressed = Event<'FollowUpSuppressed', AboutFollowUp<{ reason: 'too-many-in-a-row' | 'too-many-waiting' }>>;
/** The conversation of the follow-up does not exist any more. */
export type FollowUpSuperseded = Event<'FollowUpSuperseded', AboutFollowUp>;
/** The turn that reports the follow-up was refused. */
export type FollowUpFailed = Event<'FollowUpFailed', AboutFollowUp<{ error: string }>>;

export type FollowUpOutcome = FollowUpDelivered | FollowUpMerged | FollowUpSuppressed | FollowUpSuperseded | FollowUpFailed;
export type FollowUpsEvent = FollowUpRequested | FollowUpsGathered | FollowUpOutcome;

export const followUpsStream = (conversationId: string): string => `followUps-${conversationId}`;

/** The id is derived from the key, so a repeated request is the same follow-up. */
export const followUpIdOf = (conversationId: string, dedupeKey: string): FollowUpId =>
  deterministicId('follow-up', conversationId, dedupeKey);
