import type { ConversationSnapshotTaken, TurnId } from './conversation.events.js';
import type { Conversation, Turn } from './turn.policy.js';

/** A question takes a snapshot once so many events have come since the last one. */
export const SNAPSHOT_EVERY_EVENTS = 20;
/** A snapshot that would be larger waits for a later question. */
export const SNAPSHOT_BYTES_MAX = 32 * 1024;
/** Ids of calls that are remembered, as characters in all. */
export const CALL_IDS_CHARACTERS_MAX = 8 * 1024;
/** Work that is over and seen: so much of it is remembered, the newest. */
export const WORKS_OVER_MAX = 50;

/** Nothing while a turn is paused: what it waits for is as large as it likes, and the next question ends it. */
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
 * Turns of which something is still to come, and what the mark depends on: whether the newest turn failed unseen, and whether
 * any answer is unseen, for which the first one stands, because a question in the place of an earlier one takes the later away.
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

/** Work that goes on or is unseen, and of the rest the newest, so that what is noted of it late is not taken for new. */
function carriedWorks({ works }: Conversation) {
  const all = [...works];
  const over = all.filter(([, work]) => work.status !== 'active' && !work.unseen).slice(-WORKS_OVER_MAX);
  const kept = new Set(over.map(([id]) => id));
  return all.filter(([id, work]) => work.status === 'active' || work.unseen || kept.has(id));
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

/** The newest call ids that fit. */
export function newestThatFit(callIds: readonly string[]): readonly string[] {
  let characters = callIds.reduce((sum, callId) => sum + callId.length, 0);
  let dropped = 0;
  while (characters > CALL_IDS_CHARACTERS_MAX) characters -= callIds[dropped++]!.length;
  return callIds.slice(dropped);
}
