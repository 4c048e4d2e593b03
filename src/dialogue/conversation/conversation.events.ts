import type { BlobRef } from '../../kernel/blobs.js';
import type { Cause, Event } from '../../kernel/event-sourcing/events.js';
import type { GuardrailDecision, OpenMatch } from '../../resources/guardrails/guardrail-decisions.policy.js';
import type { GuardrailPolicy } from '../../resources/guardrails/guardrail.policy.js';
import type { Sampling } from '../../resources/models/model/language-model.port.js';
import type { LinkTerms } from '../../resources/identity/links/asking-links.port.js';
import type { PinnedWorkflow } from '../../resources/workflows/workflow.events.js';

export type ConversationId = string;
/** The id of a turn. Clients call a turn a message and use the same id. */
export type TurnId = string;

export type Exchange = Readonly<{ prompt: string; response: string }>;

export type Source = Readonly<{ text: string; title: string; source: string; filename: string }>;

/** A function of the caller that is offered to the model as a tool. The caller runs it and sends the result. */
export type ClientTool = Readonly<{ name: string; description: string; parameters: Readonly<Record<string, unknown>> }>;

/** An attachment of a question, as it was when the question was accepted. */
export type AttachedFile = Readonly<{ id: string; filename: string; mimeType: string }>;

/** The settings of a turn, fixed when its question was accepted. Later edits of the agent do not affect it. */
export type TurnSettings = Readonly<{
  agentId: string | null;
  /** The agent key of the question, or `link:<link id>` for a reader of a link; null for a signed-in user. */
  agentKeyId: string | null;
  /** The personal access token of the question. */
  accessTokenId?: string;
  modelId: string;
  promptId: string;
  /** The owner of the prompts and sources that the turn uses. */
  configurationOwnerId: string;
  sources: readonly Readonly<{ id: string; chunks?: number }>[];
  chunks: number;
  retriever: string;
  passthrough: Readonly<Record<string, unknown>>;
  responseSchema: Readonly<Record<string, unknown>> | null;
  /** The tools at their revisions when the question was accepted; missing if there are none. */
  tools?: readonly Readonly<{ toolId: string; revision: number }>[];
  clientTools?: readonly ClientTool[];
  agentType?: string;
  /**
   * Writing actions that a caller other than the owner may use with the owner's credentials, as `<tool id>:<action>`; null for
   * the owner.
   */
  writeAllowlist?: readonly string[] | null;
  /** Missing if there are none. */
  attachments?: readonly AttachedFile[];
  /** The graph that an agent of the type `workflow` runs. */
  workflow?: PinnedWorkflow;
  /** The guardrail policy; missing if nothing is checked. */
  guardrails?: GuardrailPolicy;
  /** The caller's replacement of the agent's prompt, if the agent allows it. */
  systemPrompt?: string;
  /** The caller's sampling parameters. */
  sampling?: Sampling;
  /** Missing for the service's own dialect. */
  dialect?: Dialect;
}>;

/**
 * The dialect of a question, with the version of the translator for its answer: a later program version must number the frames of
 * the answer as this one started to. Answers over MCP have no frames. Tool calls can be approved only in the service's own dialect.
 */
export type Dialect = Readonly<{ name: 'openai-chat' | 'openai-responses' | 'mcp'; translator: number }>;

/**
 * The findings of guardrails in a question, and the usage of the check. Nothing of a blocked text is stored: the turn ends with
 * the block message.
 */
export type CheckedInput = Readonly<{ decisions: readonly GuardrailDecision[]; blockMessage?: string; usage?: Usage }>;

/** The checks of a guardrail that stopped an answer, and the stage. The matched text is not stored. */
export type StoppedByGuardrail = Readonly<{ stage: string; categories: readonly string[]; checks: readonly string[] }>;

/** The parts of a complete or interrupted answer. */
export type AnswerParts = Readonly<{
  answer: string;
  thought: string;
  sources: readonly Source[];
  toolCalls: readonly Readonly<Record<string, unknown>>[];
  structured: boolean;
}>;

export type PauseType = 'awaiting_approval' | 'requires_client_execution';

/** A tool call as the model requested it. Exactly the shown call is run. */
export type CalledTool = Readonly<{
  callId: string;
  toolId: string;
  /** The kind of the tool; for a client tool, its name. */
  toolName: string;
  actionName: string;
  /** The name of the action for the model. */
  name: string;
  arguments: Readonly<Record<string, unknown>>;
  /** SHA-256 of the arguments as JSON text. */
  argumentsSha256: string;
  /** The calling step of a workflow run; missing in other turns. */
  step?: number;
  /** The remote device of the call. */
  deviceId?: string;
}>;

/** The result of a call with effects. `denied`: the tool was unavailable, and the call was not run. */
export type CallEndStatus = 'completed' | 'error' | 'denied';

/** A call that waits for a decision or a result. */
export type PendingCall = CalledTool &
  Readonly<{
    pauseType: PauseType;
    /** Its index among all calls of the turn, in the order of the model. */
    place: number;
  }>;

/**
 * The state from which a paused turn continues: in the log if it is small, else a blob. A blob with `isOwn` is deleted after the
 * turn.
 */
export type Continuation = Readonly<{ text: string } | { blob: BlobRef; isOwn?: true }>;

/** Why a call was not run without a denial by a user. */
export type NotRun = 'expired' | 'moved_on' | 'no_response';

export type TurnStatus = 'asked' | 'running' | 'paused' | 'answered' | 'failed' | 'stopped';

/** A pause: the pending calls, and what the turn ends with if the time runs out. */
export type Pause = Readonly<{
  calls: readonly PendingCall[];
  expiresAt: string;
  /** The id of the last frame before the pause. */
  lastId: number;
  parts: AnswerParts;
  modelId: string;
  usage: Usage | null;
}>;

/** The state of a turn for decisions. */
export type TurnState = Readonly<{
  index: number;
  status: TurnStatus;
  producer: string | null;
  stopRequested: boolean;
  /** Whether an edited question has replaced it. */
  superseded: boolean;
  sealed: boolean;
  /** Whether it was answered or failed and the conversation was not opened since. */
  unseen: boolean;
  /** The origin of an automatic turn; null for a question. */
  origin: TurnOrigin | null;
  feedback: string | null;
  /** The agent key of the question. */
  agentKeyId: string | null;
  /** The personal access token of the question. */
  accessTokenId?: string;
  /** Set if a guardrail policy is pinned in its settings. */
  isGuarded?: true;
  /** Number of runs in the journal: 1 + resumptions (+ 1 if a pause expired). */
  runs: number;
  /** Number of requeues after a lost producer, since the question or the last pause. */
  requeues: number;
  /** Set if another producer may continue also its first run, because its agent records its steps. */
  goesOn?: true;
  /** The last pause. Its calls are pending while the turn is paused. */
  pause: Pause | null;
  /** Calls with effects that were started and have no recorded result. */
  unfinishedCalls: readonly CalledTool[];
}>;

/** The origin of an automatic turn. */
export type TurnOrigin =
  | Readonly<{ kind: 'schedule'; scheduleId: string; runId: string; scheduledFor: string }>
  | Readonly<{ kind: 'follow-up'; source: string; refId: string; dedupeKey: string }>;

export type Usage = Readonly<{ promptTokens: number; completionTokens: number }>;

/** The source of a conversation's name: none yet, a generated title, or its owner, whose name is kept. */
export type NamedBy = 'nobody' | 'title' | 'owner';

/** The status of background work, and whether it is unseen. `asOf` is the revision of the work's stream. */
export type NotedWork = Readonly<{
  kind: BackgroundWork['kind'];
  status: 'active' | 'over' | 'failed';
  asOf: number;
  unseen: boolean;
}>;

/** The size and SHA-256 of a complete journal. */
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
    /** Whether the agent belongs to another user, who shared it. */
    sharedUsage: boolean;
    /** Earlier exchanges that the caller sent with the question. */
    history: readonly Exchange[];
    /** The agent key that started it, or `link:<link id>`; null for a signed-in owner. Missing in events of older versions. */
    agentKeyId?: string | null;
  }>
>;
export type ConversationRenamed = Event<'ConversationRenamed', About<{ name: string; by: 'owner' | 'title' }>>;
export type ConversationOpened = Event<'ConversationOpened', About>;
export type ConversationDeleted = Event<'ConversationDeleted', About>;

/** A question was accepted. With `origin` it is an automatic turn. With `checked`, guardrails found something in the question. */
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
/** Another feature appended a complete turn, whose usage it has counted and whose journal is complete. */
export type TurnAppended = Event<
  'TurnAppended',
  AboutTurn<AnswerParts & Shown & { index: number; question: string; requestId: string; modelId: string; origin: TurnOrigin }>
>;
/** An edited question replaced the turns from this index on. */
export type TurnsSuperseded = Event<'TurnsSuperseded', About<{ fromIndex: number }>>;
/** A producer claimed the turn. From now on only it writes the turn's journal, until its lease is lost. */
export type TurnStarted = Event<'TurnStarted', AboutTurn<{ producer: string }>>;
export type TurnStopRequested = Event<'TurnStopRequested', AboutTurn>;
export type TurnAnswered = Event<'TurnAnswered', AboutTurn<AnswerParts & { modelId: string; usage: Usage | null }>>;
/**
 * The turn failed. `usage` is the model's usage so far; it is missing if it is unknown, for example after a crash of the
 * producer. With `guardrail`, a guardrail stopped the answer, and the answer is the block message.
 */
export type TurnFailed = Event<
  'TurnFailed',
  AboutTurn<AnswerParts & { error: string; code: string | null; usage?: Usage | null; guardrail?: StoppedByGuardrail }>
>;
export type TurnStopped = Event<'TurnStopped', AboutTurn<AnswerParts & { usage?: Usage | null }>>;
/** A tool call with effects is about to run. It is not repeated, even if its result is never recorded. */
export type ToolCallStarted = Event<'ToolCallStarted', AboutTurn<{ call: CalledTool }>>;
/** The result of a tool call with effects, as the model gets it. */
export type ToolCallFinished = Event<'ToolCallFinished', AboutTurn<{ callId: string; status: CallEndStatus; result: string }>>;
/** The matches that guardrails masked at the ends of the texts of an answer and that may continue. */
export type OpenMatches = Readonly<{ answer?: OpenMatch; thought?: OpenMatch }>;
/**
 * The turn waits for decisions and results. `lastId` is the id of the last frame before the pause. With `openMatches`, the resumed
 * run masks the rest of these matches.
 */
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
      openMatches?: OpenMatches;
    }
  >
>;
export type ToolCallApproved = Event<'ToolCallApproved', AboutTurn<{ callId: string }>>;
export type ToolCallDenied = Event<
  'ToolCallDenied',
  AboutTurn<{ callId: string; comment: string | null; notRun: NotRun | null }>
>;
/** The caller ran its own function. `result` is JSON text. */
export type ToolCallAnswered = Event<'ToolCallAnswered', AboutTurn<{ callId: string; result: string }>>;
/**
 * All pending calls are decided. A producer may claim the turn again. `checkUsage` is the usage of the guardrails that checked the
 * answers to the calls; the resumed run adds it to the usage of the turn. `firstRequestId` is the request that used the
 * idempotency key first, if a repetition of that request made the decision.
 */
export type TurnResumed = Event<'TurnResumed', AboutTurn<{ checkUsage: Usage | null; firstRequestId?: string }>>;
/** The producer was lost. Another producer may claim the turn, because the shown frames allow it. */
export type TurnRequeued = Event<'TurnRequeued', AboutTurn<{ producer: string }>>;
/** The turn's journal is complete. No frame follows. */
export type TurnSealed = Event<'TurnSealed', AboutTurn<Shown>>;
/** An automatic turn that answered NO_REPLY is removed, and later turns are renumbered. */
export type TurnWithdrawn = Event<'TurnWithdrawn', AboutTurn>;
/** Work of a conversation beside its turns: a running tool call (job) or a monitor. */
export type BackgroundWork = Readonly<{ kind: 'job' | 'monitor'; id: string }>;
/** The status of background work changed. `asOf` is the revision of the work's stream. */
export type BackgroundWorkNoted = Event<
  'BackgroundWorkNoted',
  About<{ work: BackgroundWork; status: NotedWork['status']; asOf: number }>
>;
/**
 * The state of the conversation for decisions. It contains only unsealed turns and those that the mark depends on.
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
    /** The newest ids of calls that waited for a decision. */
    callIds: readonly string[];
    turns: readonly (TurnState & Readonly<{ turnId: TurnId }>)[];
    works: readonly (NotedWork & Readonly<{ id: string }>)[];
  }>
>;
/**
 * The owner created a link that shows these ended turns to everyone who has it. The token is not stored; it is derived from the
 * id of the share. With `terms`, readers may ask questions.
 */
export type ConversationShared = Event<
  'ConversationShared',
  About<{ shareId: string; tokenHash: string; turnIds: readonly TurnId[]; sharedAt: string; terms?: LinkTerms }>
>;
/** The owner revoked a link. */
export type ConversationShareEnded = Event<'ConversationShareEnded', About<{ shareId: string; endedAt: string }>>;
export type TurnRated = Event<'TurnRated', AboutTurn<{ feedback: string | null }>>;

/** The actor, credential and time of an event. */
type Attribution = Pick<Cause, 'actor' | 'credential'> & Readonly<{ at: string }>;
/** The facts of a question that are kept after the purge of its conversation. */
export type PurgedQuestion = Attribution &
  Readonly<{
    /** Its revision in the stream. */
    revision: number;
    agentId: string | null;
    agentKeyId: string | null;
    /** Null for a question of a user. */
    origin: TurnOrigin['kind'] | null;
    /** The model that answered, if it is known. */
    modelId: string;
  }>;
/** The usage of a turn up to an event, all its runs together. */
export type ReportedUsage = Usage & Readonly<{ revision: number; at: string }>;
/** The facts of a turn that are kept after the purge of its conversation. They contain no text. */
export type PurgedTurn = Readonly<{
  turnId: TurnId;
  /** The id of the last frame of its journal. */
  lastId: number;
  /** Null for a turn that another feature appended and whose usage it counted. */
  question: PurgedQuestion | null;
  told: readonly ReportedUsage[];
}>;
/**
 * The texts and journals of these turns of a deleted conversation are purged. They follow the turns that were purged before. The
 * stream is kept from `keptFrom` on.
 */
export type TurnsPurged = Event<
  'TurnsPurged',
  About<{ ownerId: string; keptFrom: number; from: number; turns: readonly PurgedTurn[] }>
>;
/** All texts of a deleted conversation are purged. The stream is kept from `keptFrom` on; these are the remaining facts. */
export type ConversationPurged = Event<
  'ConversationPurged',
  About<{
    ownerId: string;
    agentId: string | null;
    keptFrom: number;
    /** Number of turns, including superseded ones. */
    turns: number;
    started: Attribution;
    deleted: Attribution;
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
