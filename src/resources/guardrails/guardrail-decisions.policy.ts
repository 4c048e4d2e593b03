import type { GuardrailAction, GuardrailCheck, GuardrailStage } from './guardrail.policy.js';

/** What one control found in one text. It contains no part of the text. */
export type GuardrailDecision = Readonly<{
  stage: GuardrailStage;
  check: GuardrailCheck;
  detector: 'pattern' | 'list' | 'heuristic' | 'judge';
  /** The action that was taken: always `flag` in the mode `monitor_only`. */
  action: GuardrailAction;
  outcome: 'triggered' | 'not_evaluated';
  /** The most frequent category of the matches, such as `EMAIL`. */
  category: string | null;
  /** Between 0 and 1; null if the check has no score. */
  score: number | null;
  matchCount: number;
}>;

/** A match in the given text, from `start` up to but excluding `end`. */
export type GuardrailSpan = Readonly<{
  start: number;
  end: number;
  /** The replacement for the match if the action is `redact`. */
  mask: string;
  action: GuardrailAction;
  check: GuardrailCheck;
  category: string;
  /** The match reaches the end of the text, so further text may make it longer. */
  open: boolean;
}>;

/** A match that was shown masked at the end of a text, and that further text may continue. It contains no part of the text. */
export type OpenMatch = Readonly<Pick<GuardrailSpan, 'check' | 'category'>>;

/** One decision for each check with matches in the spans. */
export function decisionsOf(stage: GuardrailStage, spans: readonly GuardrailSpan[]): readonly GuardrailDecision[] {
  const byCheck = new Map<GuardrailCheck, GuardrailSpan[]>();
  for (const span of spans) {
    const matches = byCheck.get(span.check);
    if (matches) matches.push(span);
    else byCheck.set(span.check, [span]);
  }
  return [...byCheck].map(([check, matches]) => ({
    stage,
    check,
    detector: DETECTORS[check],
    action: matches[0]!.action,
    outcome: 'triggered',
    category: mostFrequent(matches.map(({ category }) => category)),
    score: null,
    matchCount: matches.length,
  }));
}

/** How each check works. */
export const DETECTORS: Readonly<Record<GuardrailCheck, GuardrailDecision['detector']>> = {
  pii: 'pattern',
  secrets: 'pattern',
  denylist: 'list',
  url: 'pattern',
  injection: 'heuristic',
  groundedness: 'heuristic',
  policy: 'judge',
};

/** The most frequent category; of equally frequent ones the first. */
function mostFrequent(categories: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const category of categories) counts.set(category, (counts.get(category) ?? 0) + 1);
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most))[0];
}

/** A part of a text, and what is shown in its place. */
export type Mask = Readonly<{ start: number; end: number; mask: string }>;

/** Replaces the matches whose action is `redact` by their masks. Overlapping matches share one mask. */
export const maskSpans = (text: string, spans: readonly GuardrailSpan[]): string => withMasks(text, masksOf(spans));

/** Replaces parts of a text, which are in order and do not overlap. */
export function withMasks(text: string, masks: readonly Mask[]): string {
  let masked = '';
  let end = 0;
  for (const { start, end: next, mask } of masks) {
    masked += text.slice(end, start) + mask;
    end = next;
  }
  return masked + text.slice(end);
}

/** The masks of the matches whose action is `redact`, in order. Overlapping matches share the mask of the one that begins first. */
export function masksOf(spans: readonly GuardrailSpan[]): readonly Mask[] {
  const merged: { start: number; end: number; mask: string }[] = [];
  const redacting = spans.filter(({ action }) => action === 'redact');
  for (const { start, end, mask } of redacting.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end, mask });
  }
  return merged;
}

/** Merges the decisions about several texts into one for each control: the gravest outcome with the sum of all matches. */
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
