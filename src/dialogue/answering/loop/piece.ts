import type { Source } from '../../conversation/conversation.events.js';
import type { LoopPiece } from './agent-loop.js';

/** A piece of an answer in the making, in the order of its making. */
export type Piece =
  LoopPiece | Readonly<{ type: 'notice'; text: string }> | Readonly<{ type: 'sources'; sources: readonly Source[] }>;
