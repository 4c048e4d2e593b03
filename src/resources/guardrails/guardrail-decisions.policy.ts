import type { GuardrailAction, GuardrailCheck, GuardrailStage } from './guardrail.policy.js';

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

/** What the controls of a stage found, by the spans of their matches: one decision for each. */
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

/** How each check finds what it finds. */
export const DETECTORS: Readonly<Record<GuardrailCheck, GuardrailDecision['detector']>> = {
  pii: 'pattern',
  secrets: 'pattern',
  denylist: 'list',
  url: 'pattern',
  injection: 'heuristic',
  groundedness: 'heuristic',
  policy: 'judge',
};

/** The first of those that are there most often. */
function mostFrequent(categories: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const category of categories) counts.set(category, (counts.get(category) ?? 0) + 1);
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most))[0];
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
