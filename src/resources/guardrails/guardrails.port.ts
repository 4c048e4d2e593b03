import type { GuardrailAction, GuardrailCheck, GuardrailPolicy, GuardrailStage } from './guardrail-policy.js';

/** What one control found in one text; it holds no part of the text. */
export type GuardrailDecision = Readonly<{
  stage: GuardrailStage;
  check: GuardrailCheck;
  detector: 'pattern' | 'list' | 'heuristic' | 'judge';
  /** What was done: in the mode `monitor_only` always `flag`. */
  action: GuardrailAction;
  outcome: 'triggered' | 'not_evaluated';
  /** What most of the matches are, such as `EMAIL`. */
  category: string | null;
  /** Between 0 and 1, where the check has one. */
  score: number | null;
  matchCount: number;
}>;

/** A match in the text that was given, from `start` to before `end`. */
export type GuardrailSpan = Readonly<{
  start: number;
  end: number;
  /** What stands in the place of the match if the action is `redact`. */
  mask: string;
  action: GuardrailAction;
  check: GuardrailCheck;
  category: string;
  /** The match reaches the end of the text and would be longer if the text went on. */
  open: boolean;
}>;

/** What the checks of spans (`pii`, `secrets`, `denylist`, `url`, `injection`) find in a text that may go on. */
export type LocalScan = Readonly<{
  /** By their start. Those of several controls may overlap; `maskSpans` merges them. */
  spans: readonly GuardrailSpan[];
  /**
   * Whatever follows the text, no match begins before this offset but those that are listed, and those end before it.
   * It lies at most `lookBack` characters before the end, or where an open match begins.
   */
  decidedTo: number;
  /** One for each control that has a match. */
  decisions: readonly GuardrailDecision[];
}>;

/** The outcome of all checks of a stage. */
export type GuardrailScan = Readonly<{
  /** The strictest outcome of all controls. */
  verdict: 'pass' | 'redact' | 'block';
  /** The text with its matches masked, also where the verdict is `block`; the same text where nothing is masked. */
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

  /** How many characters at the end of a text can be the beginning of a match that is not yet seen: at most 8,192. */
  abstract lookBack(policy: GuardrailPolicy, stage: GuardrailStage): number;
}

/** A text in which matches whose action is `redact` are replaced by their masks; those that overlap by one mask together. */
export function maskSpans(text: string, spans: readonly GuardrailSpan[]): string {
  let masked = '';
  let end = 0;
  for (const { start, end: next, mask } of mergeSpans(spans.filter(({ action }) => action === 'redact'))) {
    masked += text.slice(end, start) + mask;
    end = next;
  }
  return masked + text.slice(end);
}

/** Spans without overlaps, in order: those that overlap become one, with the mask of the one that begins first. */
function mergeSpans(spans: readonly GuardrailSpan[]): readonly Readonly<{ start: number; end: number; mask: string }>[] {
  const merged: { start: number; end: number; mask: string }[] = [];
  for (const { start, end, mask } of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end, mask });
  }
  return merged;
}

/** Decisions of several texts of one stage or turn, one for each control: the gravest of it, with the matches of all. */
export function mergeDecisions(decisions: readonly GuardrailDecision[]): readonly GuardrailDecision[] {
  const byControl = new Map<string, GuardrailDecision>();
  for (const decision of decisions) {
    const key = `${decision.stage} ${decision.check}`;
    const other = byControl.get(key);
    byControl.set(key, other ? graver(other, decision) : decision);
  }
  return [...byControl.values()];
}

function graver(one: GuardrailDecision, other: GuardrailDecision): GuardrailDecision {
  const [first, second] = one.outcome === 'not_evaluated' && other.outcome === 'triggered' ? [other, one] : [one, other];
  return { ...first, matchCount: first.matchCount + second.matchCount };
}
