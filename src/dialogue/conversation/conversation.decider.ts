import { Rejection } from '../../kernel/rejection.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { belongsTo, type Party } from './conversation-access.policy.js';
import { conversationCodec } from './conversation.codec.js';
import type {
  ConversationEvent,
  ConversationShared,
  ConversationSnapshotTaken,
  ConversationStarted,
  TurnAsked,
} from './conversation.events.js';
import { unresumed } from './pause.decider.js';
import { fromSnapshot, newestThatFit, snapshotIfDue } from './conversation-snapshot.policy.js';
import type { EarlierTurn } from './earlier-turns.port.js';
import {
  allSeen,
  appendedTurn,
  askedTurn,
  changed,
  type Conversation,
  countingTurnAt,
  type Decide,
  isUnfinished,
  notFound,
  requireOpen,
  stopRequest,
  supersededFrom,
  turnNotFound,
  withdrawn,
  withEvent,
} from './turn.policy.js';

const initial: Conversation = {
  id: '',
  status: 'none',
  ownerId: '',
  agentId: null,
  agentKeyId: undefined,
  visibility: 'listed',
  name: '',
  namedBy: 'nobody',
  turns: new Map(),
  nextIndex: 0,
  unopened: false,
  works: new Map(),
  automaticTurnsInARow: 0,
  callIds: [],
  eventsSinceSnapshot: 0,
  isPartial: false,
  turnsPurged: 0,
};

/**
 * Number of newest events that are searched for a snapshot. Turns with many tool calls, or a too large snapshot, increase the
 * distance.
 */
const SNAPSHOT_WITHIN_EVENTS_MAX = 1_000;

export const conversation: Aggregate<Conversation, ConversationEvent> = {
  initial,
  evolve,
  codec: conversationCodec,
  snapshot: { type: 'ConversationSnapshotTaken', withinMax: SNAPSHOT_WITHIN_EVENTS_MAX },
};

function evolve(state: Conversation, event: ConversationEvent): Conversation {
  if (event.type === 'ConversationSnapshotTaken') return fromSnapshot(event.data);
  return { ...evolved(state, event), eventsSinceSnapshot: state.eventsSinceSnapshot + 1 };
}

function evolved(state: Conversation, event: Exclude<ConversationEvent, ConversationSnapshotTaken>): Conversation {
  switch (event.type) {
    case 'ConversationStarted': {
      const { conversationId: id, ownerId, agentId, agentKeyId, visibility, name } = event.data;
      return { ...state, id, status: 'open', ownerId, agentId, agentKeyId, visibility, name };
    }
    case 'ConversationRenamed':
      return { ...state, name: event.data.name, namedBy: event.data.by };
    case 'ConversationOpened':
      return { ...state, unopened: false, turns: allSeen(state.turns), works: allSeen(state.works) };
    case 'ConversationDeleted':
      return { ...state, status: 'deleted' };
    case 'TurnsPurged': {
      const { conversationId: id, ownerId, from, turns } = event.data;
      return { ...state, id, ownerId, status: 'deleted', turnsPurged: from + turns.length };
    }
    case 'ConversationPurged': {
      // After the truncation of the stream this is its first event, so the state must not depend on earlier ones.
      const { conversationId: id, ownerId, agentId } = event.data;
      return { ...initial, id, ownerId, agentId, status: 'deleted', isPartial: true, turnsPurged: 'all' };
    }
    case 'ConversationShared':
    case 'ConversationShareEnded':
      // Only the read model uses the content of a link.
      return state;
    case 'TurnAsked': {
      const { turnId, index, settings, origin } = event.data;
      const agentKeyId = state.agentKeyId === undefined ? settings.agentKeyId : state.agentKeyId;
      const automaticTurnsInARow = origin ? state.automaticTurnsInARow + Number(origin.kind === 'follow-up') : 0;
      const turns = new Map(state.turns).set(turnId, askedTurn(event.data));
      return { ...state, agentKeyId, automaticTurnsInARow, turns, nextIndex: index + 1 };
    }
    case 'TurnAppended': {
      const { turnId, index } = event.data;
      const turns = new Map(state.turns).set(turnId, appendedTurn(event.data));
      return { ...state, turns, nextIndex: index + 1, unopened: true };
    }
    case 'TurnWithdrawn':
      return withdrawn(state, event.data.turnId);
    case 'TurnsSuperseded':
      return supersededFrom(state, event.data.fromIndex);
    case 'TurnPaused': {
      const callIds = newestThatFit([...state.callIds, ...event.data.calls.map(({ callId }) => callId)]);
      return { ...changed(state, event.data.turnId, (turn) => withEvent(turn, event)), callIds };
    }
    case 'TurnAnswered':
    case 'TurnFailed':
      // A superseded turn does not count as unopened.
      return {
        ...changed(state, event.data.turnId, (turn) => withEvent(turn, event)),
        unopened: state.unopened || state.turns.get(event.data.turnId)?.superseded === false,
      };
    case 'BackgroundWorkNoted': {
      const { work, status, asOf } = event.data;
      const works = new Map(state.works).set(work.id, { kind: work.kind, status, asOf, unseen: true });
      return { ...state, works, unopened: state.unopened || status === 'failed' };
    }
    default:
      return changed(state, event.data.turnId, (turn) => withEvent(turn, event));
  }
}

/** A decision that only a party to the conversation may make. For others, the conversation does not exist. */
export const as =
  (party: Party, decide: Decide): Decide =>
  (state) => {
    if (!belongsTo(state, party)) throw notFound();
    return decide(state);
  };

/** A decision that only the owner of the conversation may make. */
export const asOwner = (ownerId: string, decide: Decide): Decide => as({ userId: ownerId }, decide);

/**
 * Asks a question. `start` begins the conversation; `index` replaces an earlier question. `isNext`: `index` must be that of the
 * next question.
 */
export const ask =
  (
    question: Omit<TurnAsked['data'], 'index'> & { index: number | null },
    start: ConversationStarted['data'] | null,
    isNext = false,
  ): Decide =>
  (state) => {
    if (state.status === 'deleted') throw notFound();
    if (state.turns.has(question.turnId)) return [];
    const starting: ConversationEvent[] = state.status === 'none' && start ? [{ type: 'ConversationStarted', data: start }] : [];
    const open = requireOpen(starting.reduce(evolve, state));
    const index = question.index ?? open.nextIndex;
    if (index > open.nextIndex || (isNext && index < open.nextIndex)) {
      throw new Rejection('index-out-of-range', `index must be at most ${open.nextIndex}, the number of questions so far.`);
    }
    const before = [...moveOn(open), ...supersede(open, index)];
    return [
      ...starting,
      ...before,
      ...snapshotIfDue(before.reduce(evolve, open)),
      { type: 'TurnAsked', data: { ...question, index } },
    ];
  };

/** A new question ends the pause of an earlier turn and denies its calls. */
const moveOn = (state: Conversation): ConversationEvent[] =>
  [...state.turns].flatMap(([turnId, turn]) => (turn.status === 'paused' ? unresumed(state, turnId, turn, 'moved_on') : []));

function supersede(state: Conversation, fromIndex: number): ConversationEvent[] {
  if (fromIndex === state.nextIndex) return [];
  const later = [...state.turns].filter(([, turn]) => !turn.superseded && turn.index >= fromIndex);
  const running = later.filter(([, turn]) => isUnfinished(turn) && !turn.stopRequested);
  return [
    ...running.map(([turnId]) => stopRequest(state, turnId)),
    { type: 'TurnsSuperseded', data: { conversationId: state.id, fromIndex } },
  ];
}

export const rename =
  (name: string): Decide =>
  (state) =>
    requireOpen(state).name === name && state.namedBy === 'owner' ? [] : [renamed(state, name, 'owner')];

/** The owner shares turns with a link. */
export const shareByLink =
  (link: Omit<ConversationShared['data'], 'conversationId'>): Decide =>
  (state) => [{ type: 'ConversationShared', data: { conversationId: requireOpen(state).id, ...link } }];

export const endLink =
  (shareId: string, now: Date): Decide =>
  (state) => [
    { type: 'ConversationShareEnded', data: { conversationId: requireOpen(state).id, shareId, endedAt: now.toISOString() } },
  ];

/** Sets a generated title. Only the first one counts, and none after a name by the owner. */
export const entitle =
  (name: string): Decide =>
  (state) =>
    state.status !== 'open' || state.namedBy !== 'nobody' ? [] : [renamed(state, name, 'title')];

const renamed = (state: Conversation, name: string, by: 'owner' | 'title'): ConversationEvent => ({
  type: 'ConversationRenamed',
  data: { conversationId: state.id, name, by },
});

export const open: Decide = (state) =>
  requireOpen(state).unopened ? [{ type: 'ConversationOpened', data: { conversationId: state.id } }] : [];

/** The owner has read an answer to its end. An unlisted conversation has no mark to clear. */
export const watch: Decide = (state) => (requireOpen(state).visibility === 'listed' ? open(state) : []);

/** Ends access at once and stops running turns. The texts are purged after they have stopped. */
export const remove: Decide = (state) => {
  if (state.status === 'deleted') return [];
  const running = [...requireOpen(state).turns].filter(([, turn]) => isUnfinished(turn) && !turn.stopRequested);
  return [
    ...running.map(([turnId]) => stopRequest(state, turnId)),
    { type: 'ConversationDeleted', data: { conversationId: state.id } },
  ];
};

/** Rates an answer. `earlier` is the turn at the index if the last snapshot omits it. */
export const rate =
  (index: number, feedback: string | null, earlier?: EarlierTurn): Decide =>
  (state) => {
    const [turnId, turn] = countingTurnAt(requireOpen(state), index) ?? (earlier ? [earlier.turnId, earlier] : []);
    if (!turnId || !turn) throw turnNotFound();
    return turn.feedback === feedback ? [] : [{ type: 'TurnRated', data: { conversationId: state.id, turnId, feedback } }];
  };
