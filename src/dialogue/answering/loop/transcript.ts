import { Undecodable } from '../../../kernel/event-sourcing/codec.js';
import { type Cause, causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Folded, Outcome, Streams } from '../../../kernel/event-sourcing/streams.js';
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
} from '../../conversation/conversation.events.js';
import type { Conversation } from '../../conversation/turn.policy.js';
import type { PromptDocument, RenderedPrompt } from '../../../resources/prompts/prompt.port.js';
import type { CallHistory } from './call-ends.policy.js';
import { type Exchanges, newestFirst, PastExchanges } from './past-exchanges.js';

/** Who states what happens while a turn runs. */
export const TURN_RUNNER = 'system:turn-runner';

/** What a resumed turn goes on from: its pause, and what was decided on each call. */
export type Resumption = Readonly<{ paused: TurnPaused['data']; decisions: ReadonlyMap<string, Decided> }>;

type Decided = ToolCallApproved | ToolCallDenied | ToolCallAnswered;

/** What a conversation says to the one who runs one of its turns. */
export type Transcript = Readonly<{
  ownerId: string;
  asked: TurnAsked['data'];
  /** The cause of what the run of the turn states: the question, or the last resumption. */
  cause: Cause;
  /** The turn begins the conversation, which its caller therefore knows no id of yet. */
  beginsConversation: boolean;
  /** The conversation as it was read; undefined when a newer version of the program wrote some of it. */
  folded: Folded<Conversation> | undefined;
  /** What was answered before. */
  exchanges: Exchanges;
  resumption: Resumption | null;
  calls: CallHistory;
  /** Ids of calls that somebody was asked about in this conversation: none of them stands for another call. */
  waited: Iterable<string>;
  /** How far the conversation had come before the question; null where there is none. */
  history: Readonly<{ conversationId: string; revision: number }> | null;
  /** The system prompt of a workflow's node, which is no stored prompt. */
  systemPrompt?: (documents: readonly PromptDocument[]) => Promise<RenderedPrompt>;
  /** Under which id a workflow's node records its research; missing: under that of the turn. */
  researchId?: string;
}>;

/**
 * Reads a conversation for one of its turns, from its end back to the question; undefined when there is no such turn, or when
 * it was over before the last snapshot.
 */
export async function readTranscript(
  streams: Streams,
  conversationId: string,
  turnId: TurnId,
  actor: string,
): Promise<Transcript | undefined> {
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
      exchanges: (charactersMax) => past.before(event.revision, charactersMax),
      waited: folded?.state.callIds ?? [],
      history: event.revision > 0 ? { conversationId, revision: event.revision - 1 } : null,
      ...courseOf(own.reverse(), actor),
    };
  }
  return undefined;
}

/**
 * The transcript of a turn whose question is appended, or is about to be, last but for what the same append says. Nothing is read for
 * it, and of that append nothing ever.
 */
export function askedTranscript(
  streams: Streams,
  outcome: Outcome<Conversation, ConversationEvent>,
  cause: Cause,
  actor: string,
): Transcript {
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
    cause: causedBy({ id: ids[place]!, cause }, actor),
    beginsConversation,
    folded: outcome,
    exchanges: (charactersMax) => past.before(beginsConversation ? place : first, charactersMax),
    waited: state.callIds,
    history: first + place > 0 ? { conversationId: state.id, revision: first + place - 1 } : null,
    resumption: null,
    calls: { begun: new Map(), finished: new Map() },
  };
}

const revisionOf = (folded: Folded<Conversation> | undefined): number | undefined =>
  typeof folded?.revision === 'number' ? folded.revision : undefined;

const beginningOf = (streams: Streams, stream: string): Promise<Conversation> =>
  streams.beginning(stream, conversation, BEGINNING_EVENTS_MAX);

async function foldKnown(streams: Streams, stream: string): Promise<Folded<Conversation> | undefined> {
  try {
    return await streams.fold(stream, conversation);
  } catch (error) {
    if (error instanceof Undecodable) return undefined;
    throw error;
  }
}

type Course = Pick<Transcript, 'cause' | 'resumption' | 'calls'>;

/** What became of a turn so far, told by its own events, the question first. */
function courseOf(own: readonly Recorded<ConversationEvent>[], actor: string): Course {
  let cause = causedBy(own[0]!, actor);
  let paused: TurnPaused['data'] | undefined;
  const decisions = new Map<string, Decided>();
  const begun = new Map<string, CalledTool>();
  const finished = new Map<string, ToolCallFinished['data']>();
  for (const event of own) {
    switch (event.type) {
      case 'TurnPaused':
        paused = event.data;
        decisions.clear();
        break;
      case 'ToolCallApproved':
      case 'ToolCallDenied':
      case 'ToolCallAnswered':
        decisions.set(event.data.callId, event);
        break;
      case 'ToolCallStarted':
        begun.set(event.data.call.callId, event.data.call);
        break;
      case 'ToolCallFinished':
        finished.set(event.data.callId, event.data);
        break;
      case 'TurnResumed':
        cause = causedBy(event, actor);
        break;
      default:
    }
  }
  return { cause, resumption: paused ? { paused, decisions } : null, calls: { begun, finished } };
}
