import type { GuardrailDecision, GuardrailSpan } from './guardrail-decisions.policy.js';
import type { GuardrailCheck, GuardrailPolicy, GuardrailStage } from './guardrail.policy.js';

/** What the checks of spans (`pii`, `secrets`, `denylist`, `url`, `injection`) find in a text that may go on. */
export type LocalScan = Readonly<{
  /** By their start. Those of several controls may overlap; `maskSpans` merges them. */
  spans: readonly GuardrailSpan[];
  /**
   * Whatever follows the text, no match begins before this offset but those that are listed, and those end before it.
   * It lies at most `lookBack` characters before the end, or where an open match begins.
   */
  decidedTo: number;
  /** One for each control that has a match; `decisionsOf` makes them of those spans that are let through at last. */
  decisions: readonly GuardrailDecision[];
}>;

/** The outcome of all checks of a stage. */
export type GuardrailScan = Readonly<{
  /** The strictest outcome of all controls. */
  verdict: 'pass' | 'redact' | 'block';
  /** The text with the matches of controls whose action is `redact` masked. Where the verdict is `block`, none of it is to be used. */
  text: string;
  decisions: readonly GuardrailDecision[];
  /** What judges used. */
  usage: Readonly<{ promptTokens: number; completionTokens: number }>;
}>;

/** What checks of a complete answer compare it with. */
export type ScanContext = Readonly<{ question?: string; documents?: readonly string[] }>;

/** Which kinds of controls a policy has at a stage. */
export type StageNeeds = Readonly<{
  /** Checks of spans, which `localScan` does. */
  local: boolean;
  /** Checks that ask a model, segment by segment. */
  remote: boolean;
  /** Checks that need the complete text: `groundedness`. */
  complete: boolean;
  /** A control whose action is `block` decides on the complete text only, so that no text may be shown before. */
  holdsAll: boolean;
}>;

export type ScanOptions = Readonly<{
  /** Which controls are evaluated; without it all of the stage. */
  only?: readonly (keyof Omit<StageNeeds, 'holdsAll'>)[];
}>;

/** The checks that texts pass on their way into and out of the service. */
export abstract class Guardrails {
  /** The checks that agents may use. */
  abstract readonly checks: ReadonlySet<GuardrailCheck>;

  /**
   * The policy that holds for an agent's `config.guardrails` (undefined or null: none, as for chats without an agent) together with the
   * floor of the instance; undefined where nothing is checked. Controls that cannot be read are left out.
   */
  abstract policyFor(config: unknown): GuardrailPolicy | undefined;

  abstract needs(policy: GuardrailPolicy, stage: GuardrailStage): StageNeeds;

  /** Checks a whole text within the policy's time. It never fails: what could not be evaluated is said in the decisions. */
  abstract scan(
    policy: GuardrailPolicy,
    stage: GuardrailStage,
    text: string,
    context: ScanContext,
    signal: AbortSignal,
    options?: ScanOptions,
  ): Promise<GuardrailScan>;

  /**
   * The checks of spans alone, at once, for a text that comes in pieces. Offsets are those of `text`. `before` is what stands right before
   * it and has been shown already: a match that begins there is listed from offset 0 on, without what has been shown.
   */
  abstract localScan(policy: GuardrailPolicy, stage: GuardrailStage, text: string, before?: string): LocalScan;

  /**
   * How many characters at the end of a text can be the beginning of a match that is not yet seen: the largest window of the stage's
   * checks whose action is `redact` or `block`, at most 8,192; 0 where nothing is masked or blocked.
   */
  abstract lookBack(policy: GuardrailPolicy, stage: GuardrailStage): number;
}
