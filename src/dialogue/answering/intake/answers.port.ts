import type { PauseType, Usage } from '../../conversation/conversation.events.js';
import type { Frame } from '../../journal/message.events.js';
import type { Caller } from '../../../resources/identity/caller.js';

/** What is asked, or said of calls that wait, by the names that `POST /stream` has for it. */
export type AskedElsewhere = Readonly<{
  question?: string;
  conversation_id?: string;
  history?: readonly Readonly<{ prompt: string; response: string }>[];
  model_id?: string;
  client_tools?: unknown[];
  tool_actions?: unknown[];
}>;

/** A turn that was asked or resumed. What is answered begins with the frame after `after`. */
export type BegunAnswer = Readonly<{
  conversationId: string;
  turnId: string;
  after: number;
  /** The idempotency key had begun it before. */
  replayed: boolean;
  position: bigint | undefined;
}>;

export type NumberedFrame = Readonly<{ id: number; frame: Frame }>;

/** Questions that come in other dialects than our own: they take the same way in, and are answered from the same journal. */
export abstract class Answers {
  /** @throws Rejection for whatever is wrong with it; then nothing was written */
  abstract begin(
    asked: AskedElsewhere,
    caller: Caller,
    route: 'stream' | 'answer',
    idempotencyKey?: string,
  ): Promise<BegunAnswer>;
  /** The frames after one, past and live, until a run of the turn ends, or the signal aborts. */
  abstract frames(begun: BegunAnswer, after: number, caller: Caller, signal: AbortSignal): AsyncIterable<NumberedFrame>;
  /** When the first frame after one was journaled, which is there. */
  abstract journaledAt(begun: BegunAnswer, after: number): Promise<Date>;
  /** What the models used between two frames of a turn, which are ends of its runs or the beginning (-1); undefined where it is unknown. */
  abstract usage(begun: BegunAnswer, after: number, last: number): Promise<Usage | undefined>;
  /** How the calls of a conversation that a caller may have been told of waited, by their ids; empty where it is not the caller's. */
  abstract waited(conversationId: string, caller: Caller): Promise<ReadonlyMap<string, PauseType>>;
}
