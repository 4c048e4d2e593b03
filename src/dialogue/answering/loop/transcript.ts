import { Undecodable } from '../../../kernel/event-sourcing/codec.js';
import { type Cause, causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import { ANSWER_PATIENCE_MS, type Folded, type Outcome, type Streams } from '../../../kernel/event-sourcing/streams.js';
import { BEGINNING_EVENTS_MAX } from '../../conversation/conversation-access.policy.js';
import { conversation } from '../../conversation/conversation.decider.js';
import {
  type CalledTool,
  type ConversationEvent,
  conversationStream,
  type ToolCallAnswered,
  type ToolCallApproved,
  type ToolCallDenied,
  type ToolCallFinished,
  type TurnAsked,
  type TurnId,
  type TurnPaused,
  type Usage,
} from '../../conversation/conversation.events.js';
import type { Conversation } from '../../conversation/turn.policy.js';
import type { PromptDocument, RenderedPrompt } from '../../../resources/prompts/prompt.port.js';
import type { CallHistory } from './call-ends.policy.js';
import { type Exchanges, newestFirst, PastExchanges } from './past-exchanges.js';

/** The actor of the events that a runner appends while a turn runs. */
const TURN_RUNNER = 'system:turn-runner';

/**
 * The pause from which a resumed turn continues, the decision on each of its calls, and the usage of the checks of these
 * decisions.
 */
export type Resumption = Readonly<{
  paused: TurnPaused['data'];
  decisions: ReadonlyMap<string, Decided>;
  checkUsage: Usage | null;
}>;

type Decided = ToolCallApproved | ToolCallDenied | ToolCallAnswered;

/** The facts of a conversation that the runner of one of its turns needs. */
export type Transcript = Readonly<{
  ownerId: string;
  asked: TurnAsked['data'];
  /** The cause of the events that the run appends: the question, or the last resumption. */
  cause: Cause;
  /** Whether the turn begins the conversation. Its caller then does not know the conversation's id yet. */
  beginsConversation: boolean;
  /** The state of the conversation; undefined if it has events of a newer version of the program. */
  folded: Folded<Conversation> | undefined;
  /** The earlier exchanges. */
  exchanges: Exchanges;
  resumption: Resumption | null;
  calls: CallHistory;
  /** Ids of calls in this conversation that a client was asked to decide on. New calls get other ids. */
  waited: Iterable<string>;
  /** The conversation's revision before the question; null if the question is the first event or there is no conversation. */
  history: Readonly<{ conversationId: string; revision: number }> | null;
  /** The system prompt of a workflow's node, which is used instead of a stored prompt. */
  systemPrompt?: (documents: readonly PromptDocument[]) => Promise<RenderedPrompt>;
  /** The id under which a workflow's node records its research. If missing, the turn's id is used. */
  researchId?: string;
}>;

/**
 * Reads a conversation from its end back to the question of a turn. Undefined if there is no such turn, or if it ended before the
 * last snapshot.
 */
export async function readTranscript(streams: Streams, conversationId: string, turnId: TurnId): Promise<Transcript | undefined> {
  const stream = conversationStream(conversationId);
  const folded = await foldKnown(streams, stream);
  if (folded && !folded.state.turns.has(turnId)) return undefined;
  const past = new PastExchanges(streams.store, stream);
  const own: Recorded<ConversationEvent>[] = [];
  for await (const event of newestFirst(streams.store, stream, revisionOf(folded))) {
    past.add(event);
    if (!('turnId' in event.data) || event.data.turnId !== turnId) continue;
    own.push(event);
    if (event.type === 'TurnAppended') return undefined;
    if (event.type !== 'TurnAsked') continue;
    const began = event.data.index === 0 || !folded ? await beginningOf(streams, stream) : undefined;
    return {
      ownerId: folded?.state.ownerId ?? began!.ownerId,
      asked: event.data,
      beginsConversation: began?.turns.has(turnId) ?? false,
      folded,
      exchanges: exchangesIn(streams, past, event.revision),
      waited: folded?.state.callIds ?? [],
      history: event.revision > 0 ? { conversationId, revision: event.revision - 1 } : null,
      ...progressOf(own.reverse()),
    };
  }
  return undefined;
}

/**
 * The transcript of a turn from the append of its question, which may still be in progress. Reads no events; `exchanges` later
 * reads only events before this append.
 */
export function askedTranscript(streams: Streams, outcome: Outcome<Conversation, ConversationEvent>, cause: Cause): Transcript {
  const { state, events, ids } = outcome;
  const first = (outcome.revision as number) - events.length + 1;
  const place = events.findLastIndex(({ type }) => type === 'TurnAsked');
  const asked = events[place] as TurnAsked;
  const beginning = events.slice(0, place);
  const beginsConversation = first === 0;
  const sameAppend = beginning.toReversed();
  const past = new PastExchanges(streams.store, conversationStream(state.id), beginsConversation ? sameAppend : undefined);
  past.add(asked);
  if (!beginsConversation) for (const event of sameAppend) past.add(event);
  return {
    ownerId: state.ownerId,
    asked: asked.data,
    cause: causedBy({ id: ids[place]!, cause }, TURN_RUNNER),
    beginsConversation,
    folded: outcome,
    exchanges: exchangesIn(streams, past, beginsConversation ? place : first),
    waited: state.callIds,
    history: first + place > 0 ? { conversationId: state.id, revision: first + place - 1 } : null,
    resumption: null,
    calls: { started: new Map(), finished: new Map() },
  };
}

const exchangesIn =
  (streams: Streams, past: PastExchanges, before: number): Exchanges =>
  (charactersMax) =>
    streams.retryWhileUnavailable(ANSWER_PATIENCE_MS, () => past.before(before, charactersMax));

const revisionOf = (folded: Folded<Conversation> | undefined): number | undefined =>
  typeof folded?.revision === 'number' ? folded.revision : undefined;

const beginningOf = async (streams: Streams, stream: string): Promise<Conversation> =>
  (await streams.beginning(stream, conversation, BEGINNING_EVENTS_MAX)).state;

async function foldKnown(streams: Streams, stream: string): Promise<Folded<Conversation> | undefined> {
  try {
    return await streams.fold(stream, conversation);
  } catch (error) {
    if (error instanceof Undecodable) return undefined;
    throw error;
  }
}

type Progress = Pick<Transcript, 'cause' | 'resumption' | 'calls'>;

/** Derives the cause, the resumption and the calls of a turn from its events, the question first. */
function progressOf(own: readonly Recorded<ConversationEvent>[]): Progress {
  let cause = causedBy(own[0]!, TURN_RUNNER);
  let paused: TurnPaused['data'] | undefined;
  let checkUsage: Usage | null = null;
  const decisions = new Map<string, Decided>();
  const started = new Map<string, CalledTool>();
  const finished = new Map<string, ToolCallFinished['data']>();
  for (const event of own) {
    switch (event.type) {
      case 'TurnPaused':
        paused = event.data;
        decisions.clear();
        checkUsage = null;
        break;
      case 'ToolCallApproved':
      case 'ToolCallDenied':
      case 'ToolCallAnswered':
        decisions.set(event.data.callId, event);
        break;
      case 'ToolCallStarted':
        started.set(event.data.call.callId, event.data.call);
        break;
      case 'ToolCallFinished':
        finished.set(event.data.callId, event.data);
        break;
      case 'TurnResumed':
        cause = causedBy(event, TURN_RUNNER);
        checkUsage = event.data.checkUsage;
        break;
      default:
    }
  }
  return { cause, resumption: paused ? { paused, decisions, checkUsage } : null, calls: { started, finished } };
}
