import type { Event } from '../kernel/events.js';

export type ConversationId = string;
/** A turn is known to clients as a message: one id for both. */
export type TurnId = string;

export type Exchange = Readonly<{ prompt: string; response: string }>;

export type Source = Readonly<{ text: string; title: string; source: string; filename: string }>;

/** How a turn is to be run, settled when the question was accepted: later edits of the agent do not reach it. */
export type TurnSettings = Readonly<{
  agentId: string | null;
  /** The key the question was asked with; its bearer may read the stream again. */
  agentKeyId: string | null;
  modelId: string;
  promptId: string;
  /** Whose prompts and sources the turn uses. */
  configurationOwnerId: string;
  sources: readonly Readonly<{ id: string; chunks?: number }>[];
  chunks: number;
  retriever: string;
  passthrough: Readonly<Record<string, unknown>>;
  responseSchema: Readonly<Record<string, unknown>> | null;
}>;

/** What an answer consists of, whole or as far as it came. */
export type AnswerParts = Readonly<{
  answer: string;
  thought: string;
  sources: readonly Source[];
  toolCalls: readonly Readonly<Record<string, unknown>>[];
  structured: boolean;
}>;

export type Usage = Readonly<{ promptTokens: number; completionTokens: number }>;

type About<More = unknown> = { conversationId: ConversationId } & More;
type AboutTurn<More = unknown> = About<{ turnId: TurnId } & More>;

export type ConversationStarted = Event<
  'ConversationStarted',
  About<{
    ownerId: string;
    agentId: string | null;
    name: string;
    visibility: 'listed' | 'hidden';
    /** The agent belongs to somebody else, who shared it. */
    sharedUsage: boolean;
    /** Exchanges that the caller brought along from elsewhere. */
    history: readonly Exchange[];
  }>
>;
export type ConversationRenamed = Event<'ConversationRenamed', About<{ name: string; by: 'owner' | 'title' }>>;
export type ConversationOpened = Event<'ConversationOpened', About>;
export type ConversationDeleted = Event<'ConversationDeleted', About>;

export type TurnAsked = Event<
  'TurnAsked',
  AboutTurn<{ index: number; question: string; requestId: string; settings: TurnSettings }>
>;
/** A question was put in the place of an earlier one: that turn and all after it no longer count. */
export type TurnsSuperseded = Event<'TurnsSuperseded', About<{ fromIndex: number; turnIds: readonly TurnId[] }>>;
/** A producer took the turn: from here on only it writes the turn's journal, until its lease is lost. */
export type TurnStarted = Event<'TurnStarted', AboutTurn<{ producer: string }>>;
export type TurnStopRequested = Event<'TurnStopRequested', AboutTurn>;
export type TurnAnswered = Event<'TurnAnswered', AboutTurn<AnswerParts & { modelId: string; usage: Usage | null }>>;
export type TurnFailed = Event<'TurnFailed', AboutTurn<AnswerParts & { error: string; code: string | null }>>;
export type TurnStopped = Event<'TurnStopped', AboutTurn<AnswerParts>>;
/** The turn's journal is complete: this many frames with this SHA-256 were shown, and none will follow. */
export type TurnSealed = Event<'TurnSealed', AboutTurn<{ lastId: number; frames: number; sha256: string }>>;
export type TurnRated = Event<'TurnRated', AboutTurn<{ feedback: string | null }>>;

export type TurnOutcome = TurnAnswered | TurnFailed | TurnStopped;

export type ConversationEvent =
  | ConversationStarted
  | ConversationRenamed
  | ConversationOpened
  | ConversationDeleted
  | TurnAsked
  | TurnsSuperseded
  | TurnStarted
  | TurnStopRequested
  | TurnOutcome
  | TurnSealed
  | TurnRated;

export const conversationStream = (id: ConversationId): string => `conversation-${id}`;
