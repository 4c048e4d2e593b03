import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { AnswerParts, TurnOrigin } from './conversation.events.js';

/** A question that was answered elsewhere. What it used has been counted there. */
export type AddedTurn = Readonly<{
  conversationId: string;
  ownerId: string;
  turnId: string;
  question: string;
  parts: AnswerParts;
  modelId: string;
  origin: TurnOrigin;
}>;

/** Where other features add turns that came about outside of a conversation. */
export abstract class TurnAdditions {
  /** The same turn twice is one. Resolves to its index; undefined when the owner has no such conversation any more. */
  abstract add(turn: AddedTurn, cause: Cause): Promise<number | undefined>;
}
