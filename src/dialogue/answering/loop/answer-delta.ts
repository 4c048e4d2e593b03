import type { AnswerParts, Source } from '../../conversation/conversation.events.js';
import type { Frame } from '../../journal/message.events.js';
import type { LoopDelta } from './agent-loop.js';

/** Frames of a program's progress: they are shown as they are, and are no part of the answer. */
export type ProgressFrame = Extract<Frame, { type: 'research_plan' | 'research_progress' | 'workflow_run' | 'workflow_step' }>;

/** What an answer grows by, in the order of its making. */
export type AnswerDelta =
  | LoopDelta
  | Readonly<{ type: 'notice'; text: string }>
  | Readonly<{ type: 'sources'; sources: readonly Source[] }>
  /** Calls that come with the answer and are not shown one by one. */
  | Readonly<{ type: 'calls'; records: AnswerParts['toolCalls'] }>
  | Readonly<{ type: 'progress'; frame: ProgressFrame }>
  /** The program goes on once everything before this is durable: what it records next must not be ahead of what was shown. */
  | Readonly<{ type: 'checkpoint' }>;
