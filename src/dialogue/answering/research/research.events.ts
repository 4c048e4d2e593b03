import type { BlobRef } from '../../../kernel/blobs.js';
import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { Source, TurnId } from '../../conversation/conversation.events.js';
import type { ResearchPlan } from '../../journal/message.events.js';

/** The time and tokens that all producers of a research have used so far. The time of a pause does not count. */
export type ResearchUse = Readonly<{ elapsedMs: number; promptTokens: number; completionTokens: number }>;

/** The result of a step. */
export type Findings = Readonly<{
  report: string;
  sources: readonly Source[];
  /** The step's call records, as they are stored with the answer. */
  toolCalls: readonly Readonly<Record<string, unknown>>[];
}>;

/** The research asked the user to clarify the question instead of making a plan, and the turn ended with that. */
export type ResearchClarificationAsked = Event<'ResearchClarificationAsked', { turnId: TurnId; text: string }>;
export type ResearchPlanned = Event<'ResearchPlanned', { turnId: TurnId } & ResearchPlan & { used: ResearchUse }>;
/** Steps are numbered from 1. Large findings are stored as a blob. */
export type ResearchStepReported = Event<
  'ResearchStepReported',
  { turnId: TurnId; step: number; findings: Findings | Readonly<{ blob: BlobRef }>; used: ResearchUse }
>;
/** The findings were purged. The earlier events of the stream and the blobs are deleted afterwards. */
export type ResearchPurged = Event<'ResearchPurged', { turnId: TurnId; blobs: readonly string[] }>;

export type ResearchEvent = ResearchClarificationAsked | ResearchPlanned | ResearchStepReported | ResearchPurged;

/** The stream of a research. `turnId` is the id of a turn, of a headless run, or of a step of a workflow run. */
export const researchStream = (turnId: TurnId): string => `research-${turnId}`;
