import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type {
  ConversationEvent,
  ConversationStarted,
  NamedBy,
  NotedWork,
  TurnAppended,
  TurnAsked,
  TurnId,
  TurnSettings,
  TurnState,
  TurnStatus,
} from './conversation.events.js';

export type Turn = TurnState;

const newTurn: Turn = {
  index: 0,
  status: 'asked',
  producer: null,
  stopRequested: false,
  superseded: false,
  sealed: false,
  unseen: false,
  origin: null,
  feedback: null,
  agentKeyId: null,
  runs: 1,
  requeues: 0,
  pause: null,
  unfinishedCalls: [],
};

/** Types of agents that record what they have done, so that another producer goes on where one was cut off. */
const GOING_ON: ReadonlySet<string> = new Set(['research', 'workflow']);

export const recordsItsSteps = ({ agentType = '' }: Pick<TurnSettings, 'agentType'>): boolean => GOING_ON.has(agentType);

export const askedTurn = ({ index, settings, origin }: TurnAsked['data']): Turn => ({
  ...newTurn,
  index,
  origin: origin ?? null,
  agentKeyId: settings.agentKeyId,
  ...(settings.accessTokenId && { accessTokenId: settings.accessTokenId }),
  ...(settings.guardrails && { isGuarded: true }),
  ...(recordsItsSteps(settings) && { goesOn: true }),
});

export const appendedTurn = ({ index, origin }: TurnAppended['data']): Turn => ({
  ...newTurn,
  index,
  status: 'answered',
  sealed: true,
  unseen: true,
  origin,
});

/** What decisions need to know of a conversation. */
export type Conversation = Readonly<{
  id: string;
  status: 'none' | 'open' | 'deleted';
  ownerId: string;
  agentId: string | null;
  /** The agent's key it was begun with; undefined until its beginning, or the first question of one of before, has said so. */
  agentKeyId: string | null | undefined;
  visibility: ConversationStarted['data']['visibility'];
  name: string;
  namedBy: NamedBy;
  /** All turns until a snapshot is taken; then those that it carries and those since. */
  turns: ReadonlyMap<TurnId, Turn>;
  /** The index the next turn would get: one more than the last that counts. */
  nextIndex: number;
  /** Something an opening would clear: an outcome came since the last one. */
  unopened: boolean;
  /** The work beside it, as it was noted last, by its id. */
  works: ReadonlyMap<string, NotedWork>;
  /** How many automatic turns came since the last question. */
  automaticTurnsInARow: number;
  /** The newest ids of calls that somebody was asked about: none of them stands for another call. */
  callIds: readonly string[];
  /** How many events came since the last snapshot, or since the beginning. */
  eventsSinceSnapshot: number;
  /** A snapshot was taken, or all was purged: turns of before may be missing. */
  isPartial: boolean;
  /** Of how many turns it is stated that what they said is purged. */
  turnsPurged: number | 'all';
}>;

/** What happens in a conversation, given what has. */
export type Decide = Decision<Conversation, ConversationEvent>;

/** Somebody is to bring it further without being asked again. */
export const isUnfinished = (turn: Turn): boolean => turn.status === 'asked' || turn.status === 'running';

/** The turn that counts at a place of the conversation, unless it is missing since a snapshot. */
export const countingTurnAt = ({ turns }: Conversation, index: number): readonly [TurnId, Turn] | undefined =>
  [...turns].find(([, turn]) => turn.index === index && !turn.superseded);

type TurnEvent = Extract<ConversationEvent, { data: { turnId: TurnId } }>;

/** A turn after an event of its own. */
export function withEvent(turn: Turn, event: Exclude<TurnEvent, { type: 'TurnAsked' | 'TurnAppended' | 'TurnWithdrawn' }>): Turn {
  switch (event.type) {
    case 'TurnStarted':
      return { ...turn, status: 'running', producer: event.data.producer };
    case 'TurnStopRequested':
      return { ...turn, stopRequested: true };
    case 'ToolCallStarted': {
      const { call } = event.data;
      return { ...turn, unfinishedCalls: [...turn.unfinishedCalls.filter(({ callId }) => callId !== call.callId), call] };
    }
    case 'ToolCallFinished':
      return { ...turn, unfinishedCalls: turn.unfinishedCalls.filter(({ callId }) => callId !== event.data.callId) };
    case 'TurnPaused': {
      const { calls, expiresAt, lastId, modelId, usage, answer, thought, sources, toolCalls, structured } = event.data;
      const parts = { answer, thought, sources, toolCalls, structured };
      return { ...turn, status: 'paused', pause: { calls, expiresAt, lastId, parts, modelId, usage } };
    }
    case 'TurnResumed':
      return { ...turn, status: 'asked', producer: null, runs: turn.runs + 1, requeues: 0 };
    case 'TurnRequeued':
      return { ...turn, status: 'asked', producer: null, requeues: turn.requeues + 1 };
    case 'TurnAnswered':
      return ended(turn, 'answered');
    case 'TurnFailed':
      return ended(turn, 'failed');
    case 'TurnStopped':
      return ended(turn, 'stopped');
    case 'TurnSealed':
      return { ...turn, sealed: true };
    case 'TurnRated':
      return { ...turn, feedback: event.data.feedback };
    case 'ToolCallApproved':
    case 'ToolCallDenied':
    case 'ToolCallAnswered':
      return turn;
  }
}

const ended = (turn: Turn, status: TurnStatus): Turn => ({
  ...turn,
  status,
  // Of what no longer counts there is nothing to see, and who stopped an answer knows how it ended.
  unseen: !turn.superseded && status !== 'stopped',
  runs: turn.status === 'paused' ? turn.runs + 1 : turn.runs,
});

/** The subject of the signal that a turn has to stop: its runner then reads the conversation. */
export const stopSubject = (turnId: TurnId): string => `turn.stop.${turnId}`;

/** All of them, as an opening leaves them. */
export const allSeen = <T extends { unseen: boolean }>(things: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
  new Map([...things].map(([id, thing]) => [id, thing.unseen ? { ...thing, unseen: false } : thing]));

/** The conversation without the turns from an index on: another question took their place. */
export function supersededFrom(state: Conversation, fromIndex: number): Conversation {
  const turns = [...state.turns].map(([id, turn]) => {
    const isSuperseded = turn.superseded || turn.index >= fromIndex;
    return [id, isSuperseded && !turn.superseded ? { ...turn, superseded: true, unseen: false } : turn] as const;
  });
  return { ...state, turns: new Map(turns), nextIndex: fromIndex };
}

/** The conversation without a turn that was withdrawn: later turns move up. */
export function withdrawn(state: Conversation, turnId: TurnId): Conversation {
  const index = state.turns.get(turnId)?.index;
  if (index === undefined) return state;
  const movedUp = [...state.turns].map(([id, turn]) => {
    if (id === turnId) return [id, { ...turn, superseded: true, unseen: false }] as const;
    return [id, turn.superseded || turn.index < index ? turn : { ...turn, index: turn.index - 1 }] as const;
  });
  return { ...state, turns: new Map(movedUp), nextIndex: state.nextIndex - 1 };
}

/** The conversation with one turn changed, where it has that turn. */
export function changed(state: Conversation, turnId: TurnId, change: (turn: Turn) => Turn): Conversation {
  const turn = state.turns.get(turnId);
  return turn ? { ...state, turns: new Map(state.turns).set(turnId, change(turn)) } : state;
}

/** The whole answer of a model that has nothing to say in an automatic turn. */
export const NO_REPLY = 'NO_REPLY';

export const saysNothing = (answer: string): boolean => ['', NO_REPLY].includes(answer.trim());

/** Whether what there is of an answer may still come to nothing. */
export const maySayNothing = (begun: string): boolean => NO_REPLY.startsWith(begun.trim());
