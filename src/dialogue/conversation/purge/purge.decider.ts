import type { ConversationPurged, PurgedTurn, TurnsPurged } from '../conversation.events.js';
import type { Conversation, Decide } from '../turn.policy.js';

/** Whether a conversation may be purged: it is deleted, and all its turns are sealed. */
const isPurgeable = ({ status, turns, turnsPurged }: Conversation): boolean =>
  status === 'deleted' && turnsPurged !== 'all' && [...turns.values()].every(({ sealed }) => sealed);

/** Records the next turns as purged. Another process may have recorded them already. */
export const purgeTurns =
  (data: TurnsPurged['data']): Decide =>
  (state) =>
    isPurgeable(state) && state.turnsPurged === data.from && data.turns.length > 0 ? [{ type: 'TurnsPurged', data }] : [];

/** Records that the conversation is purged, after all its turns are recorded. */
export const purgeConversation =
  (data: ConversationPurged['data']): Decide =>
  (state) =>
    isPurgeable(state) && state.turnsPurged === data.turns ? [{ type: 'ConversationPurged', data }] : [];

/** Splits the turns, in order, into groups that each fit into an event. */
export function inGroups(turns: readonly PurgedTurn[], bytesMax: number): readonly (readonly PurgedTurn[])[] {
  const groups: PurgedTurn[][] = [];
  let bytes = Infinity;
  for (const turn of turns) {
    const size = Buffer.byteLength(JSON.stringify(turn));
    if (bytes + size > bytesMax) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)!.push(turn);
    bytes += size;
  }
  return groups;
}
