import type { AnswerParts, Source } from '../../conversation/conversation.events.js';
import type { Frame } from '../../journal/message.events.js';
import type { LoopDelta } from './agent-loop.js';

/** Frames that show a program's progress. They are journaled unchanged and are not part of the answer. */
export type ProgressFrame = Extract<Frame, { type: 'research_plan' | 'research_progress' | 'workflow_run' | 'workflow_step' }>;

/** One addition to an answer. Deltas are in the order in which the answer is composed. */
export type AnswerDelta =
  | LoopDelta
  | Readonly<{ type: 'notice'; text: string }>
  | Readonly<{ type: 'sources'; sources: readonly Source[] }>
  /** Call records that are stored with the answer and not shown one by one. */
  | Readonly<{ type: 'calls'; records: AnswerParts['toolCalls'] }>
  | Readonly<{ type: 'progress'; frame: ProgressFrame }>
  /** The program continues once all earlier deltas are durable, so that its next record is never ahead of the frames shown. */
  | Readonly<{ type: 'checkpoint' }>;
