import type { Event } from '../../kernel/event-sourcing/events.js';
import type { GuardrailDecision } from './guardrail-decisions.policy.js';

/** What the decisions of a record are about. Its id is the id of the turn, run or delivery whose texts were checked. */
export type GuardrailSubject = Readonly<{
  recordId: string;
  ownerId: string;
  agentId: string | null;
  messageId: string | null;
  requestId: string | null;
}>;

/** What controls found, each control once; it holds nothing of the texts. A later event replaces what it says of the same control. */
export type GuardrailDecisionsRecorded = Event<
  'GuardrailDecisionsRecorded',
  GuardrailSubject & Readonly<{ decisions: readonly GuardrailDecision[]; recordedAt: string }>
>;

/** What was recorded is no longer kept. */
export type GuardrailRecordPurged = Event<'GuardrailRecordPurged', { recordId: string }>;

export type GuardrailRecordEvent = GuardrailDecisionsRecorded | GuardrailRecordPurged;

export const guardrailStream = (recordId: string): string => `guardrail-${recordId}`;
