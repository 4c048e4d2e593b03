import type { TurnOrigin } from '../../conversation/conversation.events.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';

/** The question of an automatic turn: what has happened since the last turn. */
export type AutomaticTurn = Readonly<{
  conversationId: string;
  ownerId: string;
  turnId: string;
  question: string;
  origin: Extract<TurnOrigin, { kind: 'follow-up' }>;
}>;

/**
 * What became of it. `busy`: not yet, for somebody is answered, or is to decide on something first. `gone`: its owner has no such
 * conversation any more. `refused`: it cannot be answered, and `error` says why.
 */
export type AutomaticTurnResult = Readonly<
  { status: 'busy' } | { status: 'asked' | 'gone' | 'too-many-in-a-row' } | { status: 'refused'; error: string }
>;

/** Conversations that go on by themselves: with the settings of their last question and the agents as they are now. */
export abstract class AutomaticTurns {
  /** The same turn twice is asked once. */
  abstract ask(turn: AutomaticTurn, cause: Cause): Promise<AutomaticTurnResult>;
}
