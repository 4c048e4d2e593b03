import { decode } from '../../../kernel/event-sourcing/codec.js';
import { type EventStore, STREAM_START } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause, Recorded } from '../../../kernel/event-sourcing/events.js';
import { causedBy } from '../../../kernel/event-sourcing/events.js';
import { type Folded, nothingYet } from '../../../kernel/event-sourcing/streams.js';
import { conversationCodec } from '../../conversation/conversation.codec.js';
import { conversation } from '../../conversation/conversation.decider.js';
import type { Conversation } from '../../conversation/turn.policy.js';
import {
  type ConversationEvent,
  conversationStream,
  type Exchange,
  type ToolCallAnswered,
  type ToolCallApproved,
  type ToolCallDenied,
  type TurnAsked,
  type TurnId,
  type TurnPaused,
} from '../../conversation/conversation.events.js';
import type { CallHistory } from './call-ends.policy.js';
import { afterLeaving } from '../../conversation/counted-turns.policy.js';

/** What a resumed turn goes on from: its pause, and what was decided on each call. */
export type Resumption = Readonly<{
  paused: TurnPaused['data'];
  decisions: ReadonlyMap<string, ToolCallApproved | ToolCallDenied | ToolCallAnswered>;
}>;

type TurnRecord = {
  index: number;
  question: string;
  /** None of a turn that came about elsewhere. */
  asked: TurnAsked['data'] | undefined;
  /** What the run answers to: the question, or the last thing that was decided of its calls. */
  cause: Cause;
  answer: string | null;
  superseded: boolean;
  resumption: Resumption | null;
  calls: CallHistory;
  /** Calls that somebody was asked about, by their ids. */
  waited: Set<string>;
};

/** What a conversation says to the one who runs one of its turns. */
export type Transcript = Readonly<{
  ownerId: string;
  asked: TurnAsked['data'];
  /** The cause of what the run of the turn states: the question. */
  cause: Cause;
  /** The turn begins the conversation, which its caller therefore knows no id of yet. */
  beginsConversation: boolean;
  /** The conversation as it was read; undefined when a newer version of the program wrote some of it. */
  folded: Folded<Conversation> | undefined;
  /** What was answered before, oldest first. Turns that failed, were stopped or replaced are no answers. */
  exchanges: readonly Exchange[];
  resumption: Resumption | null;
  calls: CallHistory;
  /** The ids of calls that somebody was asked about in this conversation: none of them stands for another call. */
  waited: ReadonlySet<string>;
}>;

/** What a run elsewhere reads of a conversation that it continues. */
export type History = Readonly<{
  ownerId: string;
  isDeleted: boolean;
  /** How far it was read. */
  revision: number;
  /** What was answered, oldest first. */
  exchanges: readonly Exchange[];
}>;

/** Reads a conversation, or as much of it as there was at a revision; undefined when there is none. */
export async function readHistory(store: EventStore, conversationId: string, upTo?: number): Promise<History | undefined> {
  const turns = new Map<string, TurnRecord>();
  let ownerId = '';
  let brought: readonly Exchange[] = [];
  let isDeleted = false;
  let revision = STREAM_START;
  const reading = upTo === undefined ? {} : { limit: upTo + 1 };
  for await (const page of store.read(conversationStream(conversationId), reading)) {
    for (const stored of page) {
      ({ revision } = stored);
      const event = decode<ConversationEvent>(conversationCodec, stored);
      if (!event) continue;
      if (event.type === 'ConversationStarted') ({ ownerId, history: brought } = event.data);
      if (event.type === 'ConversationDeleted') isDeleted = true;
      remember(turns, event, '');
    }
  }
  if (revision === STREAM_START) return undefined;
  return { ownerId, isDeleted, revision, exchanges: [...brought, ...answeredIn(turns.values())] };
}

/** Reads a conversation for one of its turns; undefined when there is no such turn. */
export async function readTranscript(
  store: EventStore,
  conversationId: string,
  turnId: string,
  actor: string,
): Promise<Transcript | undefined> {
  const turns = new Map<string, TurnRecord>();
  let ownerId = '';
  let brought: readonly Exchange[] = [];
  let folded: Folded<Conversation> | undefined = nothingYet(conversation);
  for await (const page of store.read(conversationStream(conversationId))) {
    for (const stored of page) {
      const event = decode<ConversationEvent>(conversationCodec, stored);
      folded = event && folded && { ...placeOf(event), state: conversation.evolve(folded.state, event) };
      if (!event) continue;
      if (event.type === 'ConversationStarted') ({ ownerId, history: brought } = event.data);
      remember(turns, event, actor);
    }
  }
  const turn = turns.get(turnId);
  if (!turn?.asked) return undefined;
  const before = [...turns.values()].filter((each) => each.index < turn.index);
  return {
    ownerId,
    asked: turn.asked,
    cause: turn.cause,
    folded,
    beginsConversation: [...turns.keys()][0] === turnId,
    exchanges: [...brought, ...answeredIn(before)],
    resumption: turn.resumption,
    calls: turn.calls,
    waited: new Set([...turns.values()].flatMap(({ waited }) => [...waited])),
  };
}

/** Turns that were replaced are no answers. */
const answeredIn = (turns: Iterable<TurnRecord>): readonly Exchange[] =>
  [...turns].flatMap(({ question, answer, superseded }) =>
    superseded || answer === null ? [] : [{ prompt: question, response: answer }],
  );

const placeOf = ({ revision, position }: Recorded<ConversationEvent>) => ({ revision, position });

function remember(turns: Map<TurnId, TurnRecord>, event: Recorded<ConversationEvent>, actor: string): void {
  if (event.type === 'TurnAsked' || event.type === 'TurnAppended') {
    const { turnId, index, question } = event.data;
    const cause = causedBy(event, actor);
    const calls: CallHistory = { begun: new Map(), finished: new Map() };
    const unknown = { superseded: false, resumption: null, calls, waited: new Set<string>() };
    const known =
      event.type === 'TurnAsked' ? { asked: event.data, answer: null } : { asked: undefined, answer: event.data.answer };
    turns.set(turnId, { index, question, ...known, cause, ...unknown });
  } else if (event.type === 'TurnWithdrawn' || event.type === 'TurnsSuperseded') {
    for (const [turnId, turn] of afterLeaving(turns, event)) turns.set(turnId, turn);
  } else if ('turnId' in event.data && turns.has(event.data.turnId)) {
    follow(turns.get(event.data.turnId)!, event, actor);
  }
}

function follow(turn: TurnRecord, event: Recorded<ConversationEvent>, actor: string): void {
  const { resumption, calls } = turn;
  switch (event.type) {
    case 'TurnAnswered':
      turn.answer = event.data.answer;
      break;
    case 'TurnPaused':
      turn.resumption = { paused: event.data, decisions: new Map() };
      for (const { callId } of event.data.calls) turn.waited.add(callId);
      break;
    case 'ToolCallApproved':
    case 'ToolCallDenied':
    case 'ToolCallAnswered':
      turn.resumption &&= { ...resumption!, decisions: new Map(resumption!.decisions).set(event.data.callId, event) };
      break;
    case 'ToolCallStarted':
      turn.calls = { ...calls, begun: new Map(calls.begun).set(event.data.call.callId, event.data.call) };
      break;
    case 'ToolCallFinished':
      turn.calls = { ...calls, finished: new Map(calls.finished).set(event.data.callId, event.data) };
      break;
    case 'TurnResumed':
      turn.cause = causedBy(event, actor);
      break;
    default:
  }
}
