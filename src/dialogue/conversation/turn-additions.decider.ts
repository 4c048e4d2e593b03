import { belongsTo } from './conversation-access.policy.js';
import type { TurnAppended } from './conversation.events.js';
import type { Decide } from './turn.policy.js';

/** A turn that came about elsewhere becomes the last of its owner's conversation, which may be gone by now. */
export const append =
  (turn: Omit<TurnAppended['data'], 'index'>, ownerId: string): Decide =>
  (state) =>
    !belongsTo(state, { userId: ownerId }) || state.turns.has(turn.turnId)
      ? []
      : [{ type: 'TurnAppended', data: { ...turn, index: state.nextIndex } }];
