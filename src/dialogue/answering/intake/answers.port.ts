import type { Dialect, Exchange, PauseType, Usage } from '../../conversation/conversation.events.js';
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
  attachments?: string[];
  system_prompt_override?: string;
  json_schema?: Record<string, unknown>;
  llm_params?: Record<string, unknown>;
}>;

/** How it came. `repeatedAs`: the request as its caller repeats it with the same idempotency key. */
export type WayElsewhere = Readonly<{
  route: 'stream' | 'answer' | 'responses';
  idempotencyKey?: string | undefined;
  dialect?: Dialect;
  repeatedAs?: object;
}>;

/** A turn by its ids. */
export type TurnIds = Readonly<{ conversationId: string; turnId: string }>;

/** A turn that was asked or resumed. What is answered begins with the frame after `after`. */
export type BegunAnswer = TurnIds &
  Readonly<{
    after: number;
    /** The idempotency key had begun it before. */
    replayed: boolean;
    position: bigint | undefined;
  }>;

export type NumberedFrame = Readonly<{ id: number; frame: Frame }>;

/** Questions that come in other dialects than our own: they take the same way in, and are answered from the same journal. */
export abstract class Answers {
  /** @throws Rejection for whatever is wrong with it; then nothing was written */
  abstract begin(asked: AskedElsewhere, caller: Caller, way: WayElsewhere): Promise<BegunAnswer>;
  /** The frames after one, past and live, until a run of the turn ends, or the signal aborts. */
  abstract frames(begun: BegunAnswer, after: number, caller: Caller, signal: AbortSignal): AsyncIterable<NumberedFrame>;
  /** What was asked in a conversation with an agent's key. @throws Rejection message-not-found where it is not the caller's to read */
  abstract requireReadable(conversationId: string, caller: Caller): Promise<void>;
  /** The frames after one that there are by now, without waiting for more. @throws Rejection journal-expired */
  abstract written(turn: TurnIds, after: number): AsyncIterable<NumberedFrame>;
  /** When the first frame after one was journaled, which is there. */
  abstract journaledAt(turn: TurnIds, after: number): Promise<Date>;
  /** What the models used between two frames of a turn, which are ends of its runs or the beginning (-1); undefined where it is unknown. */
  abstract usage(turn: TurnIds, after: number, last: number): Promise<Usage | undefined>;
  /** How the calls of a conversation that a caller may have been told of waited, by their ids; empty where it is not the caller's. */
  abstract waited(conversationId: string, caller: Caller): Promise<ReadonlyMap<string, PauseType>>;
  /**
   * How a question goes on from a turn: not at all while the turn waits for results, in its conversation while no other turn came after
   * it, else in a new one that knows what was said until then.
   */
  abstract goingOnFrom(turn: TurnIds): Promise<'waits' | 'there' | readonly Exchange[]>;
}
