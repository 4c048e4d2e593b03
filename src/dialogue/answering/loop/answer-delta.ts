import type { Source } from '../../conversation/conversation.events.js';
import type { LoopDelta } from './agent-loop.js';

/** What an answer grows by, in the order of its making. */
export type AnswerDelta =
  LoopDelta | Readonly<{ type: 'notice'; text: string }> | Readonly<{ type: 'sources'; sources: readonly Source[] }>;
