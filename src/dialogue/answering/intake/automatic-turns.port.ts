import type { TurnOrigin } from '../../conversation/conversation.events.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';

/** An automatic turn. Its question reports what has happened since the last turn. */
export type AutomaticTurn = Readonly<{
  conversationId: string;
  ownerId: string;
  turnId: string;
  question: string;
  origin: Extract<TurnOrigin, { kind: 'follow-up' }>;
}>;

/**
 * The result of asking an automatic turn. `busy`: another turn is running or waits for decisions, so the caller tries again
 * later. `gone`: the owner's conversation does not exist any more. `refused`: it cannot be answered, for the reason in `error`.
 */
export type AutomaticTurnResult = Readonly<
  { status: 'busy' } | { status: 'asked' | 'gone' | 'too-many-in-a-row' } | { status: 'refused'; error: string }
>;

/** Asks automatic turns, with the settings of the conversation's last question and the current configuration of its agent. */
export abstract class AutomaticTurns {
  /** Whether the conversation can still get automatic turns: it has not been deleted. */
  abstract isOpen(conversationId: string): Promise<boolean>;
  /** Idempotent by `turnId`. */
  abstract ask(turn: AutomaticTurn, cause: Cause): Promise<AutomaticTurnResult>;
}
