import type {
  AnswerParts,
  CalledTool,
  CallEndStatus,
  CheckedInput,
  TurnSettings,
  Usage,
} from '../../conversation/conversation.events.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';

/** The recorded state of a call with effects. Its outcome is unknown if `end` is null. */
export type RecordedEffect = Readonly<{ end: Readonly<{ status: CallEndStatus; result: string }> | null }>;

/** Records the calls with effects of a headless answer. */
export type EffectLedger = Readonly<{
  /** Records the start of a call. If it resolves to the record of an earlier attempt's call, the call does not run again. */
  begin: (call: CalledTool) => Promise<RecordedEffect | undefined>;
  finish: (callId: string, status: CallEndStatus, result: string) => Promise<void>;
}>;

/** A conversation up to and including a revision. */
export type HistoryPin = Readonly<{ conversationId: string; revision: number }>;

/** An agent's work on one input. Tools get `runId` as the id of the conversation and of the turn. */
export type HeadlessWork = Readonly<{
  runId: string;
  attempt: number;
  ownerId: string;
  input: string;
  /** What guardrails found in the input when it was accepted. */
  checked?: CheckedInput;
  settings: TurnSettings;
  /** The conversation that the work continues from. */
  history?: HistoryPin;
  /** The ids of tools whose calls need no further approval. */
  toolAllowlist?: readonly string[];
  cause: Cause;
  ledger: EffectLedger;
  /** The call ids of earlier attempts. New calls get other ids. */
  callIdsTaken: ReadonlySet<string>;
  /** Called with the token usage, also if the answer fails. */
  used: (usage: Usage | null) => void;
  signal: AbortSignal;
}>;

/** The composed answer. With `error` it ended early and holds the parts composed until then. */
export type HeadlessAnswer = Readonly<{
  parts: AnswerParts;
  error: Readonly<{ text: string; code: string | null }> | null;
}>;

/**
 * Runs agents in headless mode, with the rights of their owners. Calls that need a decision are refused, and the model reads the
 * refusal.
 */
export abstract class HeadlessAnswering {
  /**
   * The current settings of an agent, or of the owner's chat without an agent. `modelId` replaces the configured model.
   * @throws Rejection agent-not-found, invalid-request
   */
  abstract resolveSettings(agentId: string | null, ownerId: string, cause: Cause, modelId?: string | null): Promise<TurnSettings>;
  /** The current revision of the owner's conversation; undefined if it does not exist any more. */
  abstract historyOf(conversationId: string, ownerId: string): Promise<HistoryPin | undefined>;
  /** @throws any error that is not the model's, and the reason of the signal once it aborts */
  abstract answer(work: HeadlessWork): Promise<HeadlessAnswer>;
}
