import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { AnswerParts, TurnOrigin } from './conversation.events.js';

/** A turn that another feature has answered. That feature has counted its usage. */
export type AddedTurn = Readonly<{
  conversationId: string;
  ownerId: string;
  turnId: string;
  question: string;
  parts: AnswerParts;
  modelId: string;
  origin: TurnOrigin;
}>;

/** Adds turns that were produced outside of a conversation. */
export abstract class TurnAdditions {
  /** Adds a turn once, also if it is repeated. Resolves to its index; undefined if the owner no longer has the conversation. */
  abstract add(turn: AddedTurn, cause: Cause): Promise<number | undefined>;
}
