import { belongsTo } from './conversation-access.policy.js';
import { snapshotIfDue } from './conversation-snapshot.policy.js';
import type { BackgroundWorkNoted, TurnAppended } from './conversation.events.js';
import type { Decide } from './turn.policy.js';

/** A turn that came about elsewhere becomes the last of its owner's conversation, which may be gone by now. */
export const append =
  (turn: Omit<TurnAppended['data'], 'index'>, ownerId: string): Decide =>
  (state) =>
    !belongsTo(state, { userId: ownerId }) || state.turns.has(turn.turnId)
      ? []
      : [...snapshotIfDue(state), { type: 'TurnAppended', data: { ...turn, index: state.nextIndex } }];

/** How work beside the conversation stands; what is older than what was noted of it is nothing new. */
export const noteWork =
  (noted: BackgroundWorkNoted['data']): Decide =>
  ({ status, works }) =>
    status === 'open' && (works.get(noted.work.id)?.asOf ?? -1) < noted.asOf
      ? [{ type: 'BackgroundWorkNoted', data: noted }]
      : [];
