import type { ConversationPurged, PurgedTurn, TurnsPurged } from '../conversation.events.js';
import type { Conversation, Decide } from '../turn.policy.js';

/** Whether a conversation may be purged: it is deleted, and all its turns are sealed. */
const isPurgeable = ({ status, turns, turnsPurged }: Conversation): boolean =>
  status === 'deleted' && turnsPurged !== 'all' && [...turns.values()].every(({ sealed }) => sealed);

/**
 * Records the next turns as purged, as many as fit into an event. They begin where the recorded ones end, because another process
 * may have recorded some, also an earlier version of the program with a different limit.
 */
export const purgeTurns =
  (about: Omit<TurnsPurged['data'], 'from' | 'turns'>, all: readonly PurgedTurn[], bytesMax: number): Decide =>
  (state) => {
    const { turnsPurged: from } = state;
    if (!isPurgeable(state) || from === 'all') return [];
    const turns = firstWithin(all.slice(from), bytesMax);
    return turns.length > 0 ? [{ type: 'TurnsPurged', data: { ...about, from, turns } }] : [];
  };

/** Records that the conversation is purged, after all its turns are recorded. */
export const purgeConversation =
  (data: ConversationPurged['data']): Decide =>
  (state) =>
    isPurgeable(state) && state.turnsPurged === data.turns ? [{ type: 'ConversationPurged', data }] : [];

/** The first turns that fit together, at least one. */
function firstWithin(turns: readonly PurgedTurn[], bytesMax: number): readonly PurgedTurn[] {
  let bytes = 0;
  const next = turns.findIndex((turn, at) => (bytes += Buffer.byteLength(JSON.stringify(turn))) > bytesMax && at > 0);
  return next < 0 ? turns : turns.slice(0, next);
}
