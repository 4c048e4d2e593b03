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

/** Clients know a run as a task: one id for both. */
export type RunId = string;

/** What made an agent run. */
export type RunTrigger = 'webhook' | 'schedule';

/** What the trigger of a run has fixed for it. */
export type RunDefinition = Readonly<{
  /** The model that answers, whatever the agent's own is. */
  modelId: string | null;
  /** Tools whose calls need no approval, by their ids. */
  toolAllowlist: readonly string[];
  /** How long an attempt may take; one that takes longer is the last. */
  timeoutMs: number;
}>;

/** Where a call with effects stands among those of its run, over all attempts: 0 is the first. */
export type EffectNumber = number;

type About<More = unknown> = { runId: RunId } & More;
type AboutAttempt<More = unknown> = About<{ attempt: number } & More>;

/** An agent, or a chat without one, answers an input as its owner, in headless mode. */
export type RunQueued = Event<
  'RunQueued',
  About<{
    ownerId: string;
    agentId: string | null;
    trigger: RunTrigger;
    input: string;
    /** What guardrails found in the input. */
    checked?: CheckedInput;
    definition?: RunDefinition;
    /** The chat whose earlier turns it is to know. */
    conversationId?: string;
  }>
>;
/** An attempt begins, from the start. Settings and history are those of the first: later edits of the agent and later turns of the chat do not reach the run. */
export type RunStarted = Event<'RunStarted', AboutAttempt<{ settings: TurnSettings; history?: HistoryPin }>>;
/** A call with effects is about to run: should its end never be known, it is not repeated. */
export type RunToolCallStarted = Event<'RunToolCallStarted', AboutAttempt<{ effect: EffectNumber; call: CalledTool }>>;
/** The outcome of the call, as the model reads it. */
export type RunToolCallFinished = Event<
  'RunToolCallFinished',
  AboutAttempt<{ effect: EffectNumber; status: CallEndStatus; result: string }>
>;
/** The attempt ended without an answer, and another may follow: what it has used is used. */
export type RunAttemptAbandoned = Event<'RunAttemptAbandoned', AboutAttempt<{ modelId: string; usage: Usage | null }>>;
/** The agent has answered; with `error` the model gave up on the way, and the answer is as far as it came. */
export type RunFinished = Event<
  'RunFinished',
  AboutAttempt<AnswerParts & { modelId: string; usage: Usage | null; error: RunError | null }>
>;
/** The owner's quota has no room for it: nothing was run. */
export type RunRefused = Event<'RunRefused', About<{ reason: 'quota_exceeded'; error: string }>>;
/** No attempt is left, or none would help; with `timeout` because it took too long. */
export type RunFailed = Event<'RunFailed', About<{ error: string; reason?: 'timeout' }>>;

/** What was used at one time: a request when the first attempt begins, tokens when an attempt ends. */
export type RunUse = Readonly<{
  /** Where in its stream the run said so. */
  revision: number;
  at: string;
  requests: number;
  promptTokens: number;
  completionTokens: number;
}>;
/** Where in the log the delivery is that asked for a run. */
export type DeliveryPlace = Readonly<{ stream: string; revision: number }>;
/** Its retention time is over: its input, calls and answer are deleted, with its task and its delivery. Its usage is kept here. */
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
