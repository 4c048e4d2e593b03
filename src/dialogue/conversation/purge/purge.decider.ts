import type { ConversationPurged, PurgedTurn, TurnsPurged } from '../conversation.events.js';
import type { Conversation, Decide } from '../turn.policy.js';

/** Whether what was said may be purged: the conversation is deleted, and nothing is shown of its turns any more. */
const isPurgeable = ({ status, turns, turnsPurged }: Conversation): boolean =>
  status === 'deleted' && turnsPurged !== 'all' && [...turns.values()].every(({ sealed }) => sealed);

/** States some of the turns, those after the ones that are stated already. Another process may have stated them meanwhile. */
export const purgeTurns =
  (data: TurnsPurged['data']): Decide =>
  (state) =>
    isPurgeable(state) && state.turnsPurged === data.from && data.turns.length > 0 ? [{ type: 'TurnsPurged', data }] : [];

/** States that all was purged, once that is stated of each turn. */
export const purgeConversation =
  (data: ConversationPurged['data']): Decide =>
  (state) =>
    isPurgeable(state) && state.turnsPurged === data.turns ? [{ type: 'ConversationPurged', data }] : [];

/** The turns in groups that fit into one event each: their order stays. */
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
