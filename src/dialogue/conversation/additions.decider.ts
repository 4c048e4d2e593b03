import { belongsTo } from './conversation-access.policy.js';
import { snapshotIfDue } from './conversation-snapshot.policy.js';
import type { BackgroundWorkNoted, TurnAppended } from './conversation.events.js';
import type { Decide } from './turn.policy.js';

/** Appends a turn that another feature has produced. Its owner may have deleted the conversation. */
export const append =
  (turn: Omit<TurnAppended['data'], 'index'>, ownerId: string): Decide =>
  (state) =>
    !belongsTo(state, { userId: ownerId }) || state.turns.has(turn.turnId)
      ? []
      : [...snapshotIfDue(state), { type: 'TurnAppended', data: { ...turn, index: state.nextIndex } }];

/** Records the status of background work. A status older than the recorded one is ignored. */
export const noteWork =
  (noted: BackgroundWorkNoted['data']): Decide =>
  ({ status, works }) =>
    status === 'open' && (works.get(noted.work.id)?.asOf ?? -1) < noted.asOf
      ? [{ type: 'BackgroundWorkNoted', data: noted }]
      : [];
