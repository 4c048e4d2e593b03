import type { HistoryPin } from '../../dialogue/answering/runner/headless-answering.port.js';
import type {
  AnswerParts,
  CalledTool,
  CallEndStatus,
  CheckedInput,
  TurnSettings,
  Usage,
} from '../../dialogue/conversation/conversation.events.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

/** The id of a run. It is also the id of its task, which is what clients see. */
export type RunId = string;

/** The kind of trigger that started a run. */
export type RunTrigger = 'webhook' | 'schedule';

/** The settings that the trigger defines for a run. */
export type RunDefinition = Readonly<{
  /** The model that answers instead of the agent's configured model. */
  modelId: string | null;
  /** The ids of tools whose calls need no approval. */
  toolAllowlist: readonly string[];
  /** Maximum duration of an attempt. After a timeout there is no further attempt. */
  timeoutMs: number;
}>;

/** The number of a call with effects within its run, over all attempts, from 0. */
export type EffectNumber = number;

type About<More = unknown> = { runId: RunId } & More;
type AboutAttempt<More = unknown> = About<{ attempt: number } & More>;

/** A headless run was queued: an agent, or a chat without one, answers an input with the rights of its owner. */
export type RunQueued = Event<
  'RunQueued',
  About<{
    ownerId: string;
    agentId: string | null;
    trigger: RunTrigger;
    input: string;
    /** The result of the guardrails' check of the input. */
    checked?: CheckedInput;
    definition?: RunDefinition;
    /** The conversation whose earlier turns the run reads. */
    conversationId?: string;
  }>
>;
/**
 * An attempt began from the start. Settings and history are those of the first attempt, so later edits of the agent and later
 * turns of the chat do not affect the run.
 */
export type RunStarted = Event<'RunStarted', AboutAttempt<{ settings: TurnSettings; history?: HistoryPin }>>;
/** A call with effects is about to run. If its end is never recorded, it is not repeated. */
export type RunToolCallStarted = Event<'RunToolCallStarted', AboutAttempt<{ effect: EffectNumber; call: CalledTool }>>;
/** The outcome of a call as the model reads it. */
export type RunToolCallFinished = Event<
  'RunToolCallFinished',
  AboutAttempt<{ effect: EffectNumber; status: CallEndStatus; result: string }>
>;
/** The attempt ended without an answer, and another may follow. Its usage counts. */
export type RunAttemptAbandoned = Event<'RunAttemptAbandoned', AboutAttempt<{ modelId: string; usage: Usage | null }>>;
/** The agent has answered. With `error` the answer ended early and holds the parts composed until then. */
export type RunFinished = Event<
  'RunFinished',
  AboutAttempt<AnswerParts & { modelId: string; usage: Usage | null; error: RunError | null }>
>;
/** The run was refused because the quota was used up. Nothing was run. */
export type RunRefused = Event<'RunRefused', About<{ reason: 'quota_exceeded'; error: string }>>;
/** The run has finally failed: no attempt is left, or another would fail too. With `timeout` it started too late or took too long. */
export type RunFailed = Event<'RunFailed', About<{ error: string; reason?: 'timeout' }>>;

/** The usage recorded at one time: a request when the first attempt begins, tokens when an attempt ends. */
export type RunUse = Readonly<{
  /** The revision of the event that recorded the usage. */
  revision: number;
  at: string;
  requests: number;
  promptTokens: number;
  completionTokens: number;
}>;
/** The place in the log of the delivery that requested a run. */
export type DeliveryPlace = Readonly<{ stream: string; revision: number }>;
/**
 * The retention time of the run is over: its input, calls and answer are deleted, with its task and its delivery. Its usage is
 * kept here.
 */
export type RunPurged = Event<
  'RunPurged',
  About<{
    ownerId: string;
    agentId: string | null;
    trigger: RunTrigger;
    delivery: DeliveryPlace | null;
    used: readonly RunUse[];
    purgedAt: string;
  }>
>;

export type RunError = Readonly<{ text: string; code: string | null }>;

export type RunEvent =
  | RunQueued
  | RunStarted
  | RunToolCallStarted
  | RunToolCallFinished
  | RunAttemptAbandoned
  | RunFinished
  | RunRefused
  | RunFailed
  | RunPurged;

export const runStream = (runId: RunId): string => `run-${runId}`;
