import { Rejection } from '../../kernel/rejection.js';
import { belongsTo } from './conversation-access.policy.js';
import type { TurnAsked, TurnId, TurnOrigin, TurnOutcome, TurnSealed, TurnStopped, Usage } from './conversation.events.js';
import { snapshotIfDue } from './conversation-snapshot.policy.js';
import {
  type Conversation,
  type Decide,
  isUnfinished,
  requireTurn,
  isNoReply,
  turnStopped,
  stopRequest,
  takenByAnother,
  type Turn,
  turnIfOpen,
  turnNotFound,
} from './turn.policy.js';

/** A producer claims the turn. A second one is refused. */
export const startTurn =
  (turnId: TurnId, producer: string): Decide =>
  (state) => {
    const turn = requireTurn(state, turnId);
    if (turn?.status === 'running' && turn.producer === producer) return [];
    if (turn?.status !== 'asked') throw new Rejection('turn-taken', `Turn ${turnId} is ${turn?.status ?? 'over'}.`);
    return [{ type: 'TurnStarted', data: { conversationId: state.id, turnId, producer } }];
  };

/**
 * A process takes the turn over from a lost producer in order to end it. If that producer still runs, its appends are refused.
 */
export const takeOver =
  (turnId: TurnId, from: string | null, by: string): Decide =>
  (state) => {
    const turn = turnIfOpen(state, turnId);
    if (turn?.status !== 'running' || turn.producer !== from || from === by) return [];
    return [{ type: 'TurnStarted', data: { conversationId: state.id, turnId, producer: by } }];
  };

/** Maximum number of requeues, for runs that crash their producers. */
export const REQUEUES_MAX = 5;

/** Whether another producer may continue after the producer was lost. */
export const mayBeRequeued = (turn: Turn): boolean =>
  turn.status === 'running' && turn.requeues < REQUEUES_MAX && !turn.stopRequested;

/** Makes a run available to other producers after its producer was lost. */
export const requeue =
  (turnId: TurnId, producer: string): Decide =>
  (state) => {
    const turn = turnIfOpen(state, turnId);
    if (turn?.producer !== producer || !mayBeRequeued(turn)) return [];
    return [{ type: 'TurnRequeued', data: { conversationId: state.id, turnId, producer } }];
  };

export const requestStop =
  (turnId: TurnId): Decide =>
  (state) => {
    const turn = requireTurn(state, turnId);
    if (turn?.status === 'paused') throw new Rejection('message-not-running', 'The answer waits for a tool approval.');
    if (!turn || !isUnfinished(turn)) throw new Rejection('message-not-running', 'The answer is not running.');
    return turn.stopRequested ? [] : [stopRequest(state, turnId)];
  };

/**
 * Ends a turn with the outcome of its producer. A stop that was accepted before takes precedence over an answer, because its
 * caller got 202. An automatic turn that answers NO_REPLY is removed, and later turns are renumbered. In a deleted conversation only
 * the usage is recorded.
 */
export const conclude =
  (outcome: TurnOutcome, producer?: string): Decide =>
  (state) => {
    if (state.status === 'deleted') return usedUntilDeletion(state, outcome.data.turnId, outcome.data.usage, producer);
    const turn = requireTurn(state, outcome.data.turnId);
    if (!turn || !isUnfinished(turn)) return [];
    if (producer !== undefined && turn.producer !== producer) throw takenByAnother(outcome.data.turnId);
    // A block message of a guardrail does not count as an answer with content.
    const isBlocked = outcome.type === 'TurnFailed' && outcome.data.guardrail !== undefined;
    if (turn.stopRequested) return [turnStopped(isBlocked ? { ...outcome.data, answer: '' } : outcome.data)];
    const { turnId, answer } = outcome.data;
    const isForNobody =
      turn.origin?.kind === 'follow-up' && !turn.superseded && outcome.type === 'TurnAnswered' && isNoReply(answer);
    return isForNobody ? [{ type: 'TurnWithdrawn', data: { conversationId: state.id, turnId } }, outcome] : [outcome];
  };

/**
 * The end of a turn that its producer was running when the conversation was deleted. It has no texts, only the usage, which counts
 * although the conversation is deleted.
 */
export function usedUntilDeletion(
  { id, turns }: Conversation,
  turnId: TurnId,
  usage: Usage | null | undefined,
  producer: string | undefined,
): readonly TurnStopped[] {
  const turn = turns.get(turnId);
  if (!usage || turn?.status !== 'running' || turn.sealed || turn.producer !== producer) return [];
  const nothing = { answer: '', thought: '', sources: [], toolCalls: [], structured: false };
  return [turnStopped({ conversationId: id, turnId, ...nothing, usage })];
}

/** Whether only the end of the turn's stream is missing: the turn has an outcome, or the conversation was deleted. */
export const isOver = ({ status }: Conversation, turn: Turn): boolean =>
  status === 'deleted' || !(isUnfinished(turn) || turn.status === 'paused');

/** Seals the journal of a turn. This is also allowed in a deleted conversation. */
export const seal =
  (sealed: TurnSealed['data']): Decide =>
  (state) => {
    const turn = state.turns.get(sealed.turnId);
    if (!turn && !state.isPartial) throw turnNotFound();
    return !turn || turn.sealed || !isOver(state, turn) ? [] : [{ type: 'TurnSealed', data: sealed }];
  };

/** Maximum number of automatic turns in a row without a question of a user. */
export const FOLLOW_UPS_IN_A_ROW_MAX = 5;

/**
 * Whether a conversation can continue with an automatic turn. `gone`: its owner no longer has the conversation. `busy`: a turn is
 * running or waits for a decision.
 */
export type AutomaticTurnStatus = 'asked' | 'gone' | 'busy' | 'too-many-in-a-row' | 'free';

export function statusOf(state: Conversation, ownerId: string, turnId: TurnId): AutomaticTurnStatus {
  if (!belongsTo(state, { userId: ownerId })) return 'gone';
  if (state.turns.has(turnId)) return 'asked';
  const turns = [...state.turns.values()];
  if (turns.some((turn) => isUnfinished(turn) || turn.status === 'paused')) return 'busy';
  return state.automaticTurnsInARow >= FOLLOW_UPS_IN_A_ROW_MAX ? 'too-many-in-a-row' : 'free';
}

/** Starts an automatic turn if the conversation is free. */
export const askAutomatically =
  (question: Omit<TurnAsked['data'], 'index' | 'origin'> & { origin: TurnOrigin }, ownerId: string): Decide =>
  (state) =>
    statusOf(state, ownerId, question.turnId) === 'free'
      ? [...snapshotIfDue(state), { type: 'TurnAsked', data: { ...question, index: state.nextIndex } }]
      : [];
