import { belongsTo } from './conversation-access.policy.js';
import type { TurnAsked, TurnId, TurnOrigin } from './conversation.events.js';
import { snapshotIfDue } from './conversation-snapshot.policy.js';
import { type Conversation, type Decide, isUnfinished } from './turn.policy.js';

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
