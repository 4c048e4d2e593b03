import type { Decision } from '../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../kernel/rejection.js';
import type {
  AnswerParts,
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
  TurnStopped,
  TurnStopRequested,
  Usage,
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

/** Types of agents that record their steps, so that another producer can continue an interrupted run. */
const RECORDING_TYPES: ReadonlySet<string> = new Set(['research', 'workflow']);

export const recordsItsSteps = ({ agentType = '' }: Pick<TurnSettings, 'agentType'>): boolean => RECORDING_TYPES.has(agentType);

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

/** The state of a conversation for decisions. */
export type Conversation = Readonly<{
  id: string;
  status: 'none' | 'open' | 'deleted';
  ownerId: string;
  agentId: string | null;
  /**
   * The agent key that started it; null for its owner. Undefined until the first event, or in older conversations the first
   * question, states it.
   */
  agentKeyId: string | null | undefined;
  visibility: ConversationStarted['data']['visibility'];
  name: string;
  namedBy: NamedBy;
  /** All turns; after a snapshot, those that it contains and later ones. */
  turns: ReadonlyMap<TurnId, Turn>;
  nextIndex: number;
  /** Whether a turn has ended since the conversation was last opened. */
  unopened: boolean;
  /** The latest status of background work, by its id. */
  works: ReadonlyMap<string, NotedWork>;
  /** Number of automatic turns since the last question. */
  automaticTurnsInARow: number;
  /** The newest ids of calls that waited for a decision. They must not be used for other calls. */
  callIds: readonly string[];
  /** Number of events since the last snapshot or the start. */
  eventsSinceSnapshot: number;
  /** After a snapshot or a purge: earlier turns may be missing. */
  isPartial: boolean;
  /** Number of turns that are recorded as purged. */
  turnsPurged: number | 'all';
}>;

export type Decide = Decision<Conversation, ConversationEvent>;

/** Whether a producer has to run the turn or is running it. */
export const isUnfinished = (turn: Turn): boolean => turn.status === 'asked' || turn.status === 'running';

/** The valid turn at an index, unless a snapshot omits it. */
export const countingTurnAt = ({ turns }: Conversation, index: number): readonly [TurnId, Turn] | undefined =>
  [...turns].find(([, turn]) => turn.index === index && !turn.superseded);

type TurnEvent = Extract<ConversationEvent, { data: { turnId: TurnId } }>;

/** Applies one of its events to a turn. */
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
      const { calls, expiresAt, lastId, modelId, usage } = event.data;
      return { ...turn, status: 'paused', pause: { calls, expiresAt, lastId, parts: partsOf(event.data), modelId, usage } };
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
  // A superseded turn is not shown, and a user who stopped an answer knows its end.
  unseen: !turn.superseded && status !== 'stopped',
  runs: turn.status === 'paused' ? turn.runs + 1 : turn.runs,
});

/** The subject of the stop signal of a turn. Its runner then reads the conversation. */
export const stopSubject = (turnId: TurnId): string => `turn.stop.${turnId}`;

/** Marks all items as seen, as opening the conversation does. */
export const allSeen = <T extends { unseen: boolean }>(things: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
  new Map([...things].map(([id, thing]) => [id, thing.unseen ? { ...thing, unseen: false } : thing]));

/** The conversation after another question has replaced the turns from an index on. */
export function supersededFrom(state: Conversation, fromIndex: number): Conversation {
  const turns = [...state.turns].map(([id, turn]) => {
    const isSuperseded = turn.superseded || turn.index >= fromIndex;
    return [id, isSuperseded && !turn.superseded ? { ...turn, superseded: true, unseen: false } : turn] as const;
  });
  return { ...state, turns: new Map(turns), nextIndex: fromIndex };
}

/** The conversation without a withdrawn turn. Later turns are renumbered. */
export function withdrawn(state: Conversation, turnId: TurnId): Conversation {
  const index = state.turns.get(turnId)?.index;
  if (index === undefined) return state;
  const movedUp = [...state.turns].map(([id, turn]) => {
    if (id === turnId) return [id, { ...turn, superseded: true, unseen: false }] as const;
    return [id, turn.superseded || turn.index < index ? turn : { ...turn, index: turn.index - 1 }] as const;
  });
  return { ...state, turns: new Map(movedUp), nextIndex: state.nextIndex - 1 };
}

/** The conversation with one turn changed, if it has that turn. */
export function changed(state: Conversation, turnId: TurnId, change: (turn: Turn) => Turn): Conversation {
  const turn = state.turns.get(turnId);
  return turn ? { ...state, turns: new Map(state.turns).set(turnId, change(turn)) } : state;
}

/** A model's answer in an automatic turn when it has nothing to say. */
export const NO_REPLY = 'NO_REPLY';

export const isNoReply = (answer: string): boolean => ['', NO_REPLY].includes(answer.trim());

/** Whether a partial answer may still become NO_REPLY. */
export const mayBecomeNoReply = (partial: string): boolean => NO_REPLY.startsWith(partial.trim());

export const notFound = () => new Rejection('conversation-not-found', 'Conversation not found');
export const turnNotFound = () => new Rejection('message-not-found', 'Not found');
export const takenByAnother = (turnId: TurnId) =>
  new Rejection('turn-taken', `Turn ${turnId} is no longer run by this producer.`);

/** @throws Rejection conversation-not-found */
export function requireOpen(state: Conversation): Conversation {
  if (state.status !== 'open') throw notFound();
  return state;
}

/**
 * A turn of the state; undefined if it was sealed and seen before the last snapshot.
 * @throws Rejection conversation-not-found, message-not-found
 */
export function requireTurn(state: Conversation, turnId: TurnId): Turn | undefined {
  const turn = requireOpen(state).turns.get(turnId);
  if (!turn && !state.isPartial) throw turnNotFound();
  return turn;
}

/** A turn of a conversation that is not deleted. */
export const turnIfOpen = (state: Conversation, turnId: TurnId): Turn | undefined =>
  state.status === 'open' ? state.turns.get(turnId) : undefined;

export const stopRequest = (state: Conversation, turnId: TurnId): TurnStopRequested => ({
  type: 'TurnStopRequested',
  data: { conversationId: state.id, turnId },
});

/** The event of a turn that ends stopped, with its parts and usage so far. */
export const turnStopped = ({ conversationId, turnId, usage, ...rest }: Ended): TurnStopped => ({
  type: 'TurnStopped',
  data: { conversationId, turnId, ...partsOf(rest), ...(usage && { usage }) },
});
type Ended = AnswerParts & Readonly<{ conversationId: string; turnId: TurnId; usage?: Usage | null }>;

const partsOf = ({ answer, thought, sources, toolCalls, structured }: AnswerParts): AnswerParts => ({
  answer,
  thought,
  sources,
  toolCalls,
  structured,
});
