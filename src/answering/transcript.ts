import { decode } from '../kernel/codec.js';
import type { EventStore } from '../kernel/event-store.js';
import type { Cause, Recorded } from '../kernel/events.js';
import { causedBy } from '../kernel/events.js';
import { type Folded, nothingYet } from '../kernel/streams.js';
import { conversationCodec } from '../conversation/conversation.codec.js';
import { conversation } from '../conversation/conversation.decider.js';
import type { Conversation } from '../conversation/turn.policy.js';
import {
  type ConversationEvent,
  conversationStream,
  type Exchange,
  type TurnAsked,
} from '../conversation/conversation.events.js';

type TurnRecord = { asked: TurnAsked['data']; cause: Cause; answer: string | null; superseded: boolean };

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
}>;

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
  if (!turn) return undefined;
  const before = [...turns.values()].filter((each) => !each.superseded && each.asked.index < turn.asked.index);
  const answered = before.flatMap(({ asked, answer }) => (answer === null ? [] : [{ prompt: asked.question, response: answer }]));
  return {
    ownerId,
    asked: turn.asked,
    cause: turn.cause,
    folded,
    beginsConversation: [...turns.keys()][0] === turnId,
    exchanges: [...brought, ...answered],
  };
}

const placeOf = ({ revision, position }: Recorded<ConversationEvent>) => ({ revision, position });

function remember(turns: Map<string, TurnRecord>, event: Recorded<ConversationEvent>, actor: string): void {
  switch (event.type) {
    case 'TurnAsked':
      turns.set(event.data.turnId, { asked: event.data, cause: causedBy(event, actor), answer: null, superseded: false });
      break;
    case 'TurnsSuperseded':
      for (const turnId of event.data.turnIds) if (turns.has(turnId)) turns.get(turnId)!.superseded = true;
      break;
    case 'TurnAnswered':
      if (turns.has(event.data.turnId)) turns.get(event.data.turnId)!.answer = event.data.answer;
      break;
    default:
  }
}
