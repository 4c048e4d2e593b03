import type { GuardrailDecision, GuardrailSpan, OpenMatch } from './guardrail-decisions.policy.js';
import type { GuardrailCheck, GuardrailPolicy, GuardrailStage } from './guardrail.policy.js';

/** The matches of the span checks (`pii`, `secrets`, `denylist`, `url`, `injection`) in a text that may be incomplete. */
export type LocalScan = Readonly<{
  /** Sorted by start. Spans of different controls may overlap; `maskSpans` merges them. */
  spans: readonly GuardrailSpan[];
  /**
   * The result is final up to this offset: whatever text follows, the matches that begin before it are those listed, and they end
   * before it. Its distance from the end is at most the largest window of the stage's checks, unless an open match begins further
   * back.
   */
  decidedTo: number;
  /**
   * One for each control with a match. The caller uses `decisionsOf` to get the decisions for the spans that it finally passes
   * on.
   */
  decisions: readonly GuardrailDecision[];
}>;

/** The result of all checks of a stage. */
export type GuardrailScan = Readonly<{
  /** The strictest outcome of all controls. */
  verdict: 'pass' | 'redact' | 'block';
  /** The text with the matches of `redact` controls masked. It must not be used if the verdict is `block`. */
  text: string;
  /** The matches of the span checks. */
  spans: readonly GuardrailSpan[];
  decisions: readonly GuardrailDecision[];
  /** The tokens that judges used. */
  usage: Readonly<{ promptTokens: number; completionTokens: number }>;
}>;

/** What checks compare a complete answer with. */
export type ScanContext = Readonly<{ question?: string; documents?: readonly string[] }>;

/** The kinds of controls that a policy has at a stage. */
export type StageNeeds = Readonly<{
  /** Span checks, which `localScan` runs. */
  local: boolean;
  /** Checks that ask a model, segment by segment. */
  remote: boolean;
  /** Checks that need the complete text: `groundedness`. */
  complete: boolean;
  /** A `complete` control has the action `block`, so no part of the text may be shown before the check. */
  holdsAll: boolean;
}>;

export type ScanOptions = Readonly<{
  /** The kinds of controls to evaluate. Default: all of the stage. */
  only?: readonly (keyof Omit<StageNeeds, 'holdsAll'>)[];
}>;

/** The checks of texts that enter or leave the service. */
export abstract class Guardrails {
  /** The checks that agents may use. */
  abstract readonly checks: ReadonlySet<GuardrailCheck>;

  /**
   * The policy for an agent's `config.guardrails` (undefined or null for chats without an agent), merged with the floor of the
   * instance; undefined if nothing is checked. Invalid controls are left out.
   */
  abstract policyFor(config: unknown): GuardrailPolicy | undefined;

  abstract needs(policy: GuardrailPolicy, stage: GuardrailStage): StageNeeds;

  /**
   * Checks a complete text within the policy's time limit. Never throws: decisions mark the controls that could not be evaluated.
   */
  abstract scan(
    policy: GuardrailPolicy,
    stage: GuardrailStage,
    text: string,
    context: ScanContext,
    signal: AbortSignal,
    options?: ScanOptions,
  ): Promise<GuardrailScan>;

  /**
   * Runs only the span checks, synchronously, for a text that arrives in pieces. Offsets refer to `text`. `before` is the text
   * right before it that was already shown. A match that begins in it is listed from offset 0.
   */
  abstract localScan(policy: GuardrailPolicy, stage: GuardrailStage, text: string, before?: string): LocalScan;

  /**
   * The number of characters at the end of a text that may begin a match that is not recognised yet: the largest window of the
   * stage's checks with the action `redact` or `block`, at most 8,192; 0 if there are none.
   */
  abstract lookBack(policy: GuardrailPolicy, stage: GuardrailStage): number;

  /**
   * A made-up beginning of such a match. As `before` of `localScan` it makes the checks find the rest. Undefined if the rest need
   * not be masked.
   */
  abstract beginningOf(policy: GuardrailPolicy, stage: GuardrailStage, match: OpenMatch): string | undefined;
}
