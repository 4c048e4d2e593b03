import type {
  AnswerParts,
  CalledTool,
  CallEndStatus,
  CheckedInput,
  TurnSettings,
  Usage,
} from '../../conversation/conversation.events.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';

/** What the log has of a call with effects. Without an end its outcome is unknown. */
export type RecordedEffect = Readonly<{ end: Readonly<{ status: CallEndStatus; result: string }> | null }>;

/** Where a headless answer writes down its calls with effects. */
export type EffectLedger = Readonly<{
  /** Before a call runs. What it resolves to is known of an earlier one, which then stands for this: it is not run again. */
  begin: (call: CalledTool) => Promise<RecordedEffect | undefined>;
  finish: (callId: string, status: CallEndStatus, result: string) => Promise<void>;
}>;

/** A conversation as far as it had come: what came later is not part of it. */
export type HistoryPin = Readonly<{ conversationId: string; revision: number }>;

/** An agent's work on one input. `runId` stands where tools are told of a conversation and its turn. */
export type HeadlessWork = Readonly<{
  runId: string;
  ownerId: string;
  input: string;
  /** What guardrails found in the input when it was accepted. */
  checked?: CheckedInput;
  settings: TurnSettings;
  /** What was said before, where the work goes on from a conversation. */
  history?: HistoryPin;
  /** Tools whose calls were approved beforehand, by their ids. */
  toolAllowlist?: readonly string[];
  cause: Cause;
  ledger: EffectLedger;
  /** Ids that calls of earlier attempts have: none of them stands for another call. */
  callIdsTaken: ReadonlySet<string>;
  /** Called with what the models have used, also for an answer that fails. */
  used: (usage: Usage | null) => void;
  signal: AbortSignal;
}>;

/** With `error` the model gave up on the way, and the answer is as far as it came. */
export type HeadlessAnswer = Readonly<{
  parts: AnswerParts;
  error: Readonly<{ text: string; code: string | null }> | null;
}>;

/** Agents that answer in headless mode, as their owners. Calls that need a decision are refused, and the model reads so. */
export abstract class HeadlessAnswering {
  /** How the agent, or a chat of the owner's without one, answers now, by a model of its own or by this one. @throws Rejection agent-not-found, invalid-request */
  abstract settle(agentId: string | null, ownerId: string, cause: Cause, modelId?: string | null): Promise<TurnSettings>;
  /** How far a conversation of the owner's has come; undefined where there is none any more. */
  abstract historyOf(conversationId: string, ownerId: string): Promise<HistoryPin | undefined>;
  /** @throws whatever is not the model's doing, and the reason of the signal once it aborts */
  abstract answer(work: HeadlessWork): Promise<HeadlessAnswer>;
}
