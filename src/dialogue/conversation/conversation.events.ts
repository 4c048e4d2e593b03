import type { BlobRef } from '../../kernel/blobs.js';
import type { Cause, Event } from '../../kernel/event-sourcing/events.js';
import type { GuardrailDecision } from '../../resources/guardrails/guardrail-decisions.policy.js';
import type { GuardrailPolicy } from '../../resources/guardrails/guardrail.policy.js';
import type { Sampling } from '../../resources/models/model/language-model.port.js';
import type { LinkTerms } from '../../resources/identity/links/asking-links.port.js';
import type { PinnedWorkflow } from '../../resources/workflows/workflow.events.js';

export type ConversationId = string;
/** A turn is known to clients as a message: one id for both. */
export type TurnId = string;

export type Exchange = Readonly<{ prompt: string; response: string }>;

export type Source = Readonly<{ text: string; title: string; source: string; filename: string }>;

/** Code of the caller, offered to the model as a tool: the caller runs it and brings the result. */
export type ClientTool = Readonly<{ name: string; description: string; parameters: Readonly<Record<string, unknown>> }>;

/** A file that goes with a question, as it was when the question was accepted. */
export type AttachedFile = Readonly<{ id: string; filename: string; mimeType: string }>;

/** How a turn is run, fixed when the question was accepted: later edits of the agent do not reach it. */
export type TurnSettings = Readonly<{
  agentId: string | null;
  /** The key the question was asked with, or `link:<link id>` where a reader of a link asked; null: signed in. */
  agentKeyId: string | null;
  /** The personal access token that the question was asked with. */
  accessTokenId?: string;
  modelId: string;
  promptId: string;
  /** Whose prompts and sources the turn uses. */
  configurationOwnerId: string;
  sources: readonly Readonly<{ id: string; chunks?: number }>[];
  chunks: number;
  retriever: string;
  passthrough: Readonly<Record<string, unknown>>;
  responseSchema: Readonly<Record<string, unknown>> | null;
  /** The tools as they were when the question was accepted; missing where there are none. */
  tools?: readonly Readonly<{ toolId: string; revision: number }>[];
  clientTools?: readonly ClientTool[];
  agentType?: string;
  /** What a caller who is not the owner may have written with the owner's credentials, as `<tool id>:<action>`; null: the caller is the owner. */
  writeAllowlist?: readonly string[] | null;
  /** Missing where there are none. */
  attachments?: readonly AttachedFile[];
  /** The graph that an agent of the type `workflow` runs. */
  workflow?: PinnedWorkflow;
  /** What is checked; missing where nothing is. */
  guardrails?: GuardrailPolicy;
  /** What the caller put in the place of the agent's prompt, where the agent allows it. */
  systemPrompt?: string;
  /** How the caller has the model sampled. */
  sampling?: Sampling;
  /** Missing where the question came in our own dialect. */
  dialect?: Dialect;
}>;

/**
 * The dialect in which a question came, with the version of the translator that its answer is read with: a later program numbers what
 * it has begun to tell as it began. Nobody can approve calls in another dialect than our own.
 */
export type Dialect = Readonly<{ name: 'openai-chat' | 'openai-responses'; translator: number }>;

/**
 * What guardrails found in what was asked, and what that used. Of a text that is blocked nothing is kept: the turn ends with the
 * block message.
 */
export type CheckedInput = Readonly<{ decisions: readonly GuardrailDecision[]; blockMessage?: string; usage?: Usage }>;

/** Which checks of a guardrail stopped an answer, and at which stage; never what they matched. */
export type StoppedByGuardrail = Readonly<{ stage: string; categories: readonly string[]; checks: readonly string[] }>;

/** What an answer consists of, whole or as far as it came. */
export type AnswerParts = Readonly<{
  answer: string;
  thought: string;
  sources: readonly Source[];
  toolCalls: readonly Readonly<Record<string, unknown>>[];
  structured: boolean;
}>;

export type PauseType = 'awaiting_approval' | 'requires_client_execution';

/** A call of a tool as the model asked for it; what was shown of it is what runs. */
export type CalledTool = Readonly<{
  callId: string;
  toolId: string;
  /** The kind of the tool; of a client's tool its own name. */
  toolName: string;
  actionName: string;
  /** What the model calls the action. */
  name: string;
  arguments: Readonly<Record<string, unknown>>;
  /** SHA-256 over the JSON text of the arguments. */
  argumentsSha256: string;
  /** The step of the workflow run that calls; missing elsewhere. */
  step?: number;
  /** The remote device that the call reaches. */
  deviceId?: string;
}>;

/** How a call with effects ended; denied: its tool was out of reach, and it was not run. */
export type CallEndStatus = 'completed' | 'error' | 'denied';

/** A call that waits for somebody. */
export type PendingCall = CalledTool &
  Readonly<{
    pauseType: PauseType;
    /** Its place among all calls of the turn, as the model called them. */
    place: number;
  }>;

/** What a paused turn goes on from: in the log while it is small, else a blob. One that is its own names the turn and may be deleted once that is over. */
export type Continuation = Readonly<{ text: string } | { blob: BlobRef; isOwn?: true }>;

/** Why a call was not run although no user denied it. */
export type NotRun = 'expired' | 'moved_on' | 'no_response';

/** Where a turn stands. */
export type TurnStatus = 'asked' | 'running' | 'paused' | 'answered' | 'failed' | 'stopped';

/** What a paused turn waits for, and what it ends with when its time is over. */
export type Pause = Readonly<{
  calls: readonly PendingCall[];
  expiresAt: string;
  /** The last frame of the run that ended with it. */
  lastId: number;
  parts: AnswerParts;
  modelId: string;
  usage: Usage | null;
}>;

/** A turn as decisions see it. */
export type TurnState = Readonly<{
  index: number;
  status: TurnStatus;
  producer: string | null;
  stopRequested: boolean;
  /** It no longer counts. */
  superseded: boolean;
  sealed: boolean;
  /** It was answered or failed, and the conversation was not opened since. */
  unseen: boolean;
  /** The cause of an automatic turn; null: it was asked. */
  origin: TurnOrigin | null;
  feedback: string | null;
  /** The key it was asked with. */
  agentKeyId: string | null;
  /** The personal access token it was asked with. */
  accessTokenId?: string;
  /** A policy is pinned in its settings. */
  isGuarded?: true;
  /** Number of runs in the journal: 1 + resumptions (+ 1 if a pause expired). */
  runs: number;
  /** How often the run since the last pause, or since the question, was requeued because its producer was gone. */
  requeues: number;
  /** Its first run too may be gone on with by another producer: its agent records what it has done. */
  goesOn?: true;
  /** The last pause; what it waits for is still open while the turn is paused. */
  pause: Pause | null;
  /** Calls with effects that were begun and of which no end is known. */
  unfinishedCalls: readonly CalledTool[];
}>;

/** What caused an automatic turn. */
export type TurnOrigin =
  | Readonly<{ kind: 'schedule'; scheduleId: string; runId: string; scheduledFor: string }>
  | Readonly<{ kind: 'follow-up'; source: string; refId: string; dedupeKey: string }>;

export type Usage = Readonly<{ promptTokens: number; completionTokens: number }>;

/** Who named a conversation last: no one yet, a model, or its owner, whose name stays. */
export type NamedBy = 'nobody' | 'title' | 'owner';

/** How work beside a conversation stands, and whether that was seen; `asOf` counts what has happened to it. */
export type NotedWork = Readonly<{
  kind: BackgroundWork['kind'];
  status: 'active' | 'over' | 'failed';
  asOf: number;
  unseen: boolean;
}>;

/** A complete journal: this many frames with this SHA-256. */
type Shown = { lastId: number; frames: number; sha256: string };

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
    /** The agent's key it was begun with, or `link:<link id>`; null: its owner began it signed in. Missing in conversations of before this was stated. */
    agentKeyId?: string | null;
  }>
>;
export type ConversationRenamed = Event<'ConversationRenamed', About<{ name: string; by: 'owner' | 'title' }>>;
export type ConversationOpened = Event<'ConversationOpened', About>;
export type ConversationDeleted = Event<'ConversationDeleted', About>;

/** With `origin` it is an automatic turn: the conversation goes on by itself. With `checked` guardrails found something in the question. */
export type TurnAsked = Event<
  'TurnAsked',
  AboutTurn<{
    index: number;
    question: string;
    requestId: string;
    settings: TurnSettings;
    origin?: TurnOrigin;
    checked?: CheckedInput;
  }>
>;
/** A turn that came about elsewhere, whole: what it used was counted there, and its journal is complete. */
export type TurnAppended = Event<
  'TurnAppended',
  AboutTurn<AnswerParts & Shown & { index: number; question: string; requestId: string; modelId: string; origin: TurnOrigin }>
>;
/** A question was put in the place of an earlier one: that turn and all after it no longer count. */
export type TurnsSuperseded = Event<'TurnsSuperseded', About<{ fromIndex: number }>>;
/** A producer took the turn: from here on only it writes the turn's journal, until its lease is lost. */
export type TurnStarted = Event<'TurnStarted', AboutTurn<{ producer: string }>>;
export type TurnStopRequested = Event<'TurnStopRequested', AboutTurn>;
export type TurnAnswered = Event<'TurnAnswered', AboutTurn<AnswerParts & { modelId: string; usage: Usage | null }>>;
/**
 * `usage` is what the model had used by then; missing where it is unknown, as after the death of the producer. With `guardrail` a
 * guardrail stopped the answer, which is then the block message.
 */
export type TurnFailed = Event<
  'TurnFailed',
  AboutTurn<AnswerParts & { error: string; code: string | null; usage?: Usage | null; guardrail?: StoppedByGuardrail }>
>;
export type TurnStopped = Event<'TurnStopped', AboutTurn<AnswerParts & { usage?: Usage | null }>>;
/** A call with effects is about to run: should its end never be known, it is not repeated. */
export type ToolCallStarted = Event<'ToolCallStarted', AboutTurn<{ call: CalledTool }>>;
/** The outcome of the call, as the model reads it. */
export type ToolCallFinished = Event<'ToolCallFinished', AboutTurn<{ callId: string; status: CallEndStatus; result: string }>>;
/** The turn waits for decisions and results; `lastId` is the id of the last frame of the run that ends so. */
export type TurnPaused = Event<
  'TurnPaused',
  AboutTurn<
    AnswerParts & {
      calls: readonly PendingCall[];
      expiresAt: string;
      lastId: number;
      modelId: string;
      usage: Usage | null;
      continuation: Continuation;
    }
  >
>;
export type ToolCallApproved = Event<'ToolCallApproved', AboutTurn<{ callId: string }>>;
export type ToolCallDenied = Event<
  'ToolCallDenied',
  AboutTurn<{ callId: string; comment: string | null; notRun: NotRun | null }>
>;
/** The caller's own code has run; `result` is what it said, as JSON text. */
export type ToolCallAnswered = Event<'ToolCallAnswered', AboutTurn<{ callId: string; result: string }>>;
/** All that the turn waited for is decided: a producer may take it again. */
export type TurnResumed = Event<'TurnResumed', AboutTurn>;
/** The producer of a run is gone. Another producer may take the turn: what was shown allows it. */
export type TurnRequeued = Event<'TurnRequeued', AboutTurn<{ producer: string }>>;
/** The turn's journal is complete: so much was shown, and nothing will follow. */
export type TurnSealed = Event<'TurnSealed', AboutTurn<Shown>>;
/** An automatic turn that answered NO_REPLY is removed, and later turns are renumbered. */
export type TurnWithdrawn = Event<'TurnWithdrawn', AboutTurn>;
/** What goes on for a conversation beside its turns: a tool call that works on, or something that is watched. */
export type BackgroundWork = Readonly<{ kind: 'job' | 'monitor'; id: string }>;
/** The status of such work, as the conversation shows it; `asOf` is the revision of the work's stream. */
export type BackgroundWorkNoted = Event<
  'BackgroundWorkNoted',
  About<{ work: BackgroundWork; status: NotedWork['status']; asOf: number }>
>;
/**
 * All that decisions need of the events before it. Of turns it has those that are unsealed, and those whose outcome still counts for the mark.
 */
export type ConversationSnapshotTaken = Event<
  'ConversationSnapshotTaken',
  About<{
    ownerId: string;
    agentId: string | null;
    agentKeyId: string | null;
    visibility: ConversationStarted['data']['visibility'];
    name: string;
    namedBy: NamedBy;
    nextIndex: number;
    unopened: boolean;
    automaticTurnsInARow: number;
    /** The newest ids of calls that somebody was asked about. */
    callIds: readonly string[];
    turns: readonly (TurnState & Readonly<{ turnId: TurnId }>)[];
    works: readonly (NotedWork & Readonly<{ id: string }>)[];
  }>
>;
/**
 * The owner made a link that shows these turns to everybody who has it, as they ended. The token of the link is not stored: it is derived from
 * the id of the share. With `terms` its readers may ask questions of their own.
 */
export type ConversationShared = Event<
  'ConversationShared',
  About<{ shareId: string; tokenHash: string; turnIds: readonly TurnId[]; sharedAt: string; terms?: LinkTerms }>
>;
/** The link shows nothing any more. */
export type ConversationShareEnded = Event<'ConversationShareEnded', About<{ shareId: string; endedAt: string }>>;
export type TurnRated = Event<'TurnRated', AboutTurn<{ feedback: string | null }>>;

/** Who did something, and when. */
type Deed = Pick<Cause, 'actor' | 'credential'> & Readonly<{ at: string }>;
/** What outlives a question of a conversation that was deleted. */
export type PurgedQuestion = Deed &
  Readonly<{
    /** Where in its stream it was. */
    revision: number;
    agentId: string | null;
    agentKeyId: string | null;
    /** Null: it was asked. */
    origin: TurnOrigin['kind'] | null;
    /** The model that answered, as far as it is known. */
    modelId: string;
  }>;
/** What a turn had used by then, all of its runs together. */
export type ToldUsage = Usage & Readonly<{ revision: number; at: string }>;
/** What outlives a turn of a conversation that was deleted: no text of anybody. */
export type PurgedTurn = Readonly<{
  turnId: TurnId;
  /** The last frame of its journal. */
  lastId: number;
  /** Null: the turn came about elsewhere, and what it used was counted there. */
  question: PurgedQuestion | null;
  told: readonly ToldUsage[];
}>;
/**
 * What these turns of a deleted conversation said is purged, with their journals. Of the turns of a conversation they are those from a
 * place on; from `keptFrom` on the stream is kept.
 */
export type TurnsPurged = Event<
  'TurnsPurged',
  About<{ ownerId: string; keptFrom: number; from: number; turns: readonly PurgedTurn[] }>
>;
/** All that was said in a deleted conversation is purged: of its events those from `keptFrom` on are kept, and the facts are these. */
export type ConversationPurged = Event<
  'ConversationPurged',
  About<{
    ownerId: string;
    agentId: string | null;
    keptFrom: number;
    /** How many turns it had, those that no longer counted among them. */
    turns: number;
    started: Deed;
    deleted: Deed;
    purgedAt: string;
  }>
>;

export type TurnOutcome = TurnAnswered | TurnFailed | TurnStopped;

export type ConversationEvent =
  | ConversationStarted
  | ConversationRenamed
  | ConversationOpened
  | ConversationDeleted
  | ConversationShared
  | ConversationShareEnded
  | TurnAsked
  | TurnAppended
  | TurnWithdrawn
  | TurnsSuperseded
  | TurnStarted
  | TurnStopRequested
  | TurnOutcome
  | TurnSealed
  | TurnRated
  | ToolCallStarted
  | ToolCallFinished
  | TurnPaused
  | ToolCallApproved
  | ToolCallDenied
  | ToolCallAnswered
  | TurnResumed
  | TurnRequeued
  | BackgroundWorkNoted
  | ConversationSnapshotTaken
  | TurnsPurged
  | ConversationPurged;

export const conversationStream = (id: ConversationId): string => `conversation-${id}`;
