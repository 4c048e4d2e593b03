import type { BlobRef } from '../../../kernel/blobs.js';
import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { Source, TurnId } from '../../conversation/conversation.events.js';
import type { ResearchPlan } from '../../journal/message.events.js';

/** What a research has used so far, all producers together; the time of a pause does not count. */
export type ResearchUse = Readonly<{ elapsedMs: number; promptTokens: number; completionTokens: number }>;

/** What a step has found out. */
export type Findings = Readonly<{
  report: string;
  sources: readonly Source[];
  /** The calls of its tools as they are kept with the answer. */
  toolCalls: readonly Readonly<Record<string, unknown>>[];
}>;

/** Instead of a plan the user was asked what the question means: the turn ends with that. */
export type ResearchClarificationAsked = Event<'ResearchClarificationAsked', { turnId: TurnId; text: string }>;
export type ResearchPlanned = Event<'ResearchPlanned', { turnId: TurnId } & ResearchPlan & { used: ResearchUse }>;
/** Steps are counted from 1. Large findings are kept beside the log. */
export type ResearchStepReported = Event<
  'ResearchStepReported',
  { turnId: TurnId; step: number; findings: Findings | Readonly<{ blob: BlobRef }>; used: ResearchUse }
>;
/** What was found out is no longer kept: its events before this one and the blobs go. */
export type ResearchPurged = Event<'ResearchPurged', { turnId: TurnId; blobs: readonly string[] }>;

export type ResearchEvent = ResearchClarificationAsked | ResearchPlanned | ResearchStepReported | ResearchPurged;

/** Of a turn, of a run without a reader, or of a step of a workflow's run. */
export const researchStream = (turnId: TurnId): string => `research-${turnId}`;
