import type { ConversationSnapshotTaken, TurnId } from './conversation.events.js';
import type { Conversation, Turn } from './turn.policy.js';

/** A question takes a snapshot after this number of events since the last one. */
export const SNAPSHOT_EVERY_EVENTS = 20;
/** Maximum size of a snapshot. A larger one is postponed to a later question. */
export const SNAPSHOT_BYTES_MAX = 32 * 1024;
/** Maximum total length of the call ids in a snapshot, in characters. */
export const CALL_IDS_CHARACTERS_MAX = 8 * 1024;
/** Number of items of background work in a snapshot that have ended, newest first. */
export const WORKS_ENDED_MAX = 50;

/** The snapshot, if one is due. Not while a turn is paused: its calls may have any size, and the next question ends the pause. */
export function snapshotIfDue(state: Conversation): ConversationSnapshotTaken[] {
  if (state.eventsSinceSnapshot < SNAPSHOT_EVERY_EVENTS) return [];
  if ([...state.turns.values()].some(({ status }) => status === 'paused')) return [];
  const data = snapshotOf(state);
  if (Buffer.byteLength(JSON.stringify(data)) > SNAPSHOT_BYTES_MAX) return [];
  return [{ type: 'ConversationSnapshotTaken', data }];
}

function snapshotOf(state: Conversation): ConversationSnapshotTaken['data'] {
  const { id, ownerId, agentId, agentKeyId = null, visibility, name, namedBy, nextIndex, unopened } = state;
  const { automaticTurnsInARow, callIds } = state;
  return {
    ...{ conversationId: id, ownerId, agentId, agentKeyId, visibility, name, namedBy, nextIndex, unopened },
    ...{ automaticTurnsInARow, callIds },
    turns: carriedTurns(state).map(([turnId, turn]) => ({ turnId, ...turn })),
    works: carriedWorks(state).map(([workId, work]) => ({ id: workId, ...work })),
  };
}

/**
 * The turns of a snapshot: unfinished ones, and those that the mark depends on, which are the newest turn if it failed unseen and
 * the first unseen answer. The first one is kept because a replaced question removes later turns.
 */
function carriedTurns({ turns, nextIndex }: Conversation): readonly (readonly [TurnId, Turn])[] {
  const all = [...turns];
  const unseen = all.filter(([, turn]) => turn.unseen && turn.status === 'answered');
  const first = unseen.reduce<Turn | undefined>(
    (found, [, turn]) => (found && found.index < turn.index ? found : turn),
    undefined,
  );
  return all.filter(([, turn]) => {
    if (!turn.sealed) return true;
    return turn === first || (turn.unseen && turn.status === 'failed' && turn.index === nextIndex - 1);
  });
}

/**
 * Active work, the newest unseen failure, which the mark depends on, and the newest of the rest, so that a late status of it is
 * not taken for new. Nobody may ever see the works of a conversation that is not listed, so unseen ones are not all kept.
 */
function carriedWorks({ works }: Conversation) {
  const all = [...works];
  const ended = all.filter(([, work]) => work.status !== 'active');
  const failure = ended.findLast(([, work]) => work.status === 'failed' && work.unseen);
  const kept = new Set([...ended.slice(-WORKS_ENDED_MAX), ...(failure ? [failure] : [])].map(([id]) => id));
  return all.filter(([id, work]) => work.status === 'active' || kept.has(id));
}

export function fromSnapshot(taken: ConversationSnapshotTaken['data']): Conversation {
  const { conversationId: id, turns, works, ...rest } = taken;
  return {
    ...rest,
    id,
    status: 'open',
    turns: new Map(turns.map(({ turnId, ...turn }) => [turnId, turn])),
    works: new Map(works.map(({ id: workId, ...work }) => [workId, work])),
    eventsSinceSnapshot: 0,
    isPartial: true,
    turnsPurged: 0,
  };
}

/** The newest call ids within CALL_IDS_CHARACTERS_MAX. */
export function newestThatFit(callIds: readonly string[]): readonly string[] {
  let characters = callIds.reduce((sum, callId) => sum + callId.length, 0);
  let dropped = 0;
  while (characters > CALL_IDS_CHARACTERS_MAX) characters -= callIds[dropped++]!.length;
  return callIds.slice(dropped);
}
