import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type {
  AnswerParts,
  CalledTool,
  ConversationEvent,
  PendingCall,
  TurnAppended,
  TurnAsked,
  TurnId,
  TurnOrigin,
  Usage,
} from './conversation.events.js';

export type TurnStatus = 'asked' | 'running' | 'paused' | 'answered' | 'failed' | 'stopped';

/** What a paused turn waits for, and what it ends with when its time is over. */
type Pause = Readonly<{
  calls: readonly PendingCall[];
  expiresAt: string;
  /** The last frame of the run that ended with it. */
  lastId: number;
  parts: AnswerParts;
  modelId: string;
  usage: Usage | null;
}>;

export type Turn = Readonly<{
  index: number;
  status: TurnStatus;
  producer: string | null;
  stopRequested: boolean;
  /** It no longer counts. */
  superseded: boolean;
  sealed: boolean;
  /** The cause of an automatic turn; null: it was asked. */
  origin: TurnOrigin['kind'] | null;
  feedback: string | null;
  /** The key it was asked with. */
  agentKeyId: string | null;
  /** Number of runs in the journal: 1, plus 1 for each resumption, plus 1 if a pause expired. */
  runs: number;
  /** How often the run after the last pause was requeued by a producer that was gone. */
  requeues: number;
  /** The last pause; what it waits for is still open while the turn is paused. */
  pause: Pause | null;
  /** Calls with effects that were begun and of which no end is known, by their ids. */
  unfinishedCalls: ReadonlyMap<string, CalledTool>;
}>;

export const askedTurn = ({ index, settings, origin }: TurnAsked['data']): Turn => ({
  index,
  status: 'asked',
  producer: null,
  stopRequested: false,
  superseded: false,
  sealed: false,
  origin: origin?.kind ?? null,
  feedback: null,
  agentKeyId: settings.agentKeyId,
  runs: 1,
  requeues: 0,
  pause: null,
  unfinishedCalls: new Map(),
});

export const appendedTurn = ({ index, origin }: TurnAppended['data']): Turn => ({
  index,
  status: 'answered',
  producer: null,
  stopRequested: false,
  superseded: false,
  sealed: true,
  origin: origin.kind,
  feedback: null,
  agentKeyId: null,
  runs: 1,
  requeues: 0,
  pause: null,
  unfinishedCalls: new Map(),
});

/** What decisions need to know of a conversation. */
export type Conversation = Readonly<{
  id: string;
  status: 'none' | 'open' | 'deleted';
  ownerId: string;
  agentId: string | null;
  /** The agent's key it was begun with; undefined until its beginning, or the first question of one of before, has said so. */
  agentKeyId: string | null | undefined;
  name: string;
  /** Who named it last: nobody yet, a model, or its owner, whose name stays. */
  namedBy: 'nobody' | 'title' | 'owner';
  turns: ReadonlyMap<TurnId, Turn>;
  /** The index the next turn would get: one more than the last that counts. */
  nextIndex: number;
  /** Something an opening would clear: an outcome came since the last one. */
  unopened: boolean;
  /** How far the work beside it was noted, by its id. */
  workNoted: ReadonlyMap<string, number>;
}>;

/** What happens in a conversation, given what has. */
export type Decide = Decision<Conversation, ConversationEvent>;

/** Somebody is to bring it further without being asked again. */
export const isUnfinished = (turn: Turn): boolean => turn.status === 'asked' || turn.status === 'running';

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
      return { ...turn, unfinishedCalls: new Map(turn.unfinishedCalls).set(call.callId, call) };
    }
    case 'ToolCallFinished':
      return { ...turn, unfinishedCalls: new Map([...turn.unfinishedCalls].filter(([id]) => id !== event.data.callId)) };
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
  runs: turn.status === 'paused' ? turn.runs + 1 : turn.runs,
});
