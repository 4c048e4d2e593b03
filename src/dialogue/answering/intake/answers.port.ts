import type { Dialect, Exchange, PauseType, Usage } from '../../conversation/conversation.events.js';
import type { Frame } from '../../journal/message.events.js';
import type { Caller } from '../../../resources/identity/caller.js';

/** A question, or the answers to pending calls, with the field names of `POST /stream`. */
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

/**
 * How a request was received. `repeatedAs`: the form of the request that is the same in each repetition with one idempotency key.
 * `nextIndex`: the index of the question. If the conversation has one there already, it is refused with `index-out-of-range`.
 */
export type WayElsewhere = Readonly<{
  route: 'stream' | 'answer' | 'responses';
  idempotencyKey?: string | undefined;
  dialect?: Dialect;
  repeatedAs?: object;
  nextIndex?: number | undefined;
}>;

/** The ids that identify a turn. */
export type TurnIds = Readonly<{ conversationId: string; turnId: string }>;

/** A turn that was asked or resumed. The answer begins with the frame after `after`. */
export type StartedAnswer = TurnIds &
  Readonly<{
    after: number;
    /** Whether an earlier request with the same idempotency key had started the turn. */
    replayed: boolean;
    position: bigint | undefined;
  }>;

export type NumberedFrame = Readonly<{ id: number; frame: Frame }>;

/** Answers questions of other dialects. They use the same intake and the same journal as the native interface. */
export abstract class Answers {
  /** @throws Rejection if the request is invalid or not permitted. Nothing is written then. */
  abstract begin(asked: AskedElsewhere, caller: Caller, way: WayElsewhere): Promise<StartedAnswer>;
  /** The frames after number `after`, stored and live, until a run of the turn ends or the signal aborts. */
  abstract frames(started: StartedAnswer, after: number, caller: Caller, signal: AbortSignal): AsyncIterable<NumberedFrame>;
  /** Checks that the caller may read a conversation. @throws Rejection message-not-found */
  abstract requireReadable(conversationId: string, caller: Caller): Promise<void>;
  /** The frames after number `after` that are stored now, without waiting for more. @throws Rejection journal-expired */
  abstract written(turn: TurnIds, after: number): AsyncIterable<NumberedFrame>;
  /** The time at which the first frame after number `after` was journaled. @throws Rejection journal-expired if it is gone */
  abstract journaledAt(turn: TurnIds, after: number): Promise<Date>;
  /**
   * The token usage between two frames of a turn, each the last frame of a run or -1 for the beginning; undefined if it is
   * unknown.
   */
  abstract usage(turn: TurnIds, after: number, last: number): Promise<Usage | undefined>;
  /**
   * The kinds of pause of the conversation's pending and recent calls, by call id; empty if the conversation is not the caller's.
   */
  abstract waited(conversationId: string, caller: Caller): Promise<ReadonlyMap<string, PauseType>>;
  /**
   * How a question continues after a turn. `waits`: not at all, because the turn waits for decisions. A number: with this index in
   * the turn's conversation, because it is the last turn. Otherwise: in a new conversation with the returned history.
   */
  abstract goingOnFrom(turn: TurnIds): Promise<'waits' | number | readonly Exchange[]>;
}
