import type { Event } from '../../kernel/event-sourcing/events.js';
import type { GuardrailDecision } from './guardrail-decisions.policy.js';

/** The subject of a record. Its id is the id of the turn, run or delivery whose texts were checked. */
export type GuardrailSubject = Readonly<{
  recordId: string;
  ownerId: string;
  agentId: string | null;
  messageId: string | null;
  requestId: string | null;
}>;

/** Decisions, one per control, without any part of the texts. A later event replaces earlier decisions of the same controls. */
export type GuardrailDecisionsRecorded = Event<
  'GuardrailDecisionsRecorded',
  GuardrailSubject & Readonly<{ decisions: readonly GuardrailDecision[]; recordedAt: string }>
>;

/** The recorded decisions were deleted. */
export type GuardrailRecordPurged = Event<'GuardrailRecordPurged', { recordId: string }>;

export type GuardrailRecordEvent = GuardrailDecisionsRecorded | GuardrailRecordPurged;

export const guardrailStream = (recordId: string): string => `guardrail-${recordId}`;
