import { Injectable } from '@nestjs/common';
import { Timing } from '../../kernel/timing.js';
import { FoldedText } from './detection/folded-text.js';
import { ungrounded } from './detection/groundedness.js';
import { readGuardrails } from './guardrail-config.policy.js';
import {
  decisionsOf,
  DETECTORS,
  type GuardrailDecision,
  type GuardrailSpan,
  maskSpans,
  type OpenMatch,
} from './guardrail-decisions.policy.js';
import { effectivePolicy } from './guardrail-floor.policy.js';
import { GuardrailOptions } from './guardrail-options.js';
import type { GuardrailAction, GuardrailCheck, GuardrailControl, GuardrailPolicy, GuardrailStage } from './guardrail.policy.js';
import {
  type GuardrailScan,
  Guardrails,
  type LocalScan,
  type ScanContext,
  type ScanOptions,
  type StageNeeds,
} from './guardrails.port.js';
import { PolicyJudge } from './policy-judge.js';
import { type StageControls, stageControls } from './stage-controls.js';

const LOOK_BACK_MAX = 8_192;
/** Number of characters scanned at once. Between slices the event loop serves other work. */
const SLICE_CHARACTERS = 32_768;
/** Number of characters before a slice that its scan also sees. */
const BEFORE_CHARACTERS = 512;
const NO_USAGE = { promptTokens: 0, completionTokens: 0 };

/** The result of one kind of controls. Controls that could not be evaluated are among the decisions. */
type Findings = Readonly<{
  decisions: readonly GuardrailDecision[];
  spans?: readonly GuardrailSpan[];
  usage?: GuardrailScan['usage'];
}>;

/** Applies the guardrails that agents and the operator have configured. */
@Injectable()
export class ConfiguredGuardrails extends Guardrails {
  private readonly compiled = new WeakMap<GuardrailPolicy, Map<GuardrailStage, StageControls>>();

  constructor(
    private readonly judge: PolicyJudge,
    private readonly timing: Timing,
    private readonly options: GuardrailOptions,
  ) {
    super();
  }

  get checks(): ReadonlySet<GuardrailCheck> {
    return this.options.settings.checks;
  }

  policyFor(config: unknown): GuardrailPolicy | undefined {
    const { enabled, checks, floor } = this.options.settings;
    return enabled ? effectivePolicy(readGuardrails(config ?? {}, checks).config, floor) : undefined;
  }

  needs(policy: GuardrailPolicy, stage: GuardrailStage): StageNeeds {
    const { spans, complete, remote } = this.controlsOf(policy, stage);
    return {
      local: spans.length > 0,
      complete: complete.length > 0,
      remote: remote.length > 0,
      holdsAll: complete.some(({ action }) => action === 'block'),
    };
  }

  lookBack(policy: GuardrailPolicy, stage: GuardrailStage): number {
    const { spans } = this.controlsOf(policy, stage);
    const windows = spans.filter(({ action }) => action !== 'flag').map(({ detector }) => detector.window);
    return Math.min(LOOK_BACK_MAX, Math.max(0, ...windows));
  }

  beginningOf(policy: GuardrailPolicy, stage: GuardrailStage, { check, category }: OpenMatch): string | undefined {
    const found = this.controlsOf(policy, stage).spans.find(({ control }) => control.check === check);
    return found?.detector.beginningOf?.(category);
  }

  localScan(policy: GuardrailPolicy, stage: GuardrailStage, text: string, before = ''): LocalScan {
    const { spans, decidedTo } = located(this.controlsOf(policy, stage), text, before);
    const enough = this.withEnoughMatches(policy, stage, spans);
    return { spans: enough, decidedTo, decisions: decisionsOf(stage, enough) };
  }

  async scan(
    policy: GuardrailPolicy,
    stage: GuardrailStage,
    text: string,
    context: ScanContext,
    signal: AbortSignal,
    { only = ['local', 'remote', 'complete'] }: ScanOptions = {},
  ): Promise<GuardrailScan> {
    const until = AbortSignal.any([signal, this.timing.deadline(policy.timeoutMs)]);
    const judged = only.includes('remote') ? this.judged(policy, stage, text, until) : [];
    const found = only.includes('local') ? await this.found(policy, stage, text, until) : [];
    const compared = only.includes('complete') ? this.compared(policy, stage, text, context) : [];
    return outcomeOf(policy, text, [...found, ...compared, ...(await judged)]);
  }

  /** Runs the span checks slice by slice. */
  private async found(
    policy: GuardrailPolicy,
    stage: GuardrailStage,
    text: string,
    until: AbortSignal,
  ): Promise<readonly Findings[]> {
    const controls = this.controlsOf(policy, stage);
    if (controls.spans.length === 0) return [];
    const spans: GuardrailSpan[] = [];
    let size = SLICE_CHARACTERS;
    for (let from = 0; ;) {
      const end = Math.min(from + size, text.length);
      const slice = located(controls, text.slice(from, end), text.slice(Math.max(0, from - BEFORE_CHARACTERS), from));
      const decided = end === text.length ? end - from : slice.decidedTo;
      for (const span of slice.spans) if (span.start < decided) spans.push(movedBy(span, from));
      from += decided;
      if (from >= text.length) break;
      // Nothing was decided, so a match may be longer than the slice: scan a larger one.
      size = decided === 0 ? 2 * size : SLICE_CHARACTERS;
      await this.timing.pause(0);
      if (until.aborted) {
        const missed = controls.spans.map(({ control, action }) => notEvaluated(control, action));
        return [{ decisions: [...decisionsOf(stage, spans), ...missed], spans }];
      }
    }
    const enough = this.withEnoughMatches(policy, stage, spans);
    return [{ decisions: decisionsOf(stage, enough), spans: enough }];
  }

  /** Asks all judges in parallel. */
  private judged(policy: GuardrailPolicy, stage: GuardrailStage, text: string, until: AbortSignal): Promise<readonly Findings[]> {
    return Promise.all(
      this.controlsOf(policy, stage).remote.map(async ({ control, action }) => {
        const { verdict, usage } = await this.judge.judge(control.settings, text, until);
        if (!verdict) return { decisions: [notEvaluated(control, action)], usage };
        const isBroken = verdict.violates && verdict.confidence >= control.settings.confidence_threshold;
        return { decisions: isBroken ? [triggered(control, action, 'POLICY_VIOLATION', verdict.confidence)] : [], usage };
      }),
    );
  }

  private compared(
    policy: GuardrailPolicy,
    stage: GuardrailStage,
    text: string,
    { documents = [] }: ScanContext,
  ): readonly Findings[] {
    return this.controlsOf(policy, stage).complete.map(({ control, action }) => {
      const found = ungrounded(text, documents, control.settings);
      return { decisions: found ? [triggered(control, action, found.category, found.score)] : [] };
    });
  }

  /** Removes the matches of controls that have fewer than their minimum. */
  private withEnoughMatches(
    policy: GuardrailPolicy,
    stage: GuardrailStage,
    spans: readonly GuardrailSpan[],
  ): readonly GuardrailSpan[] {
    const few = this.controlsOf(policy, stage)
      .spans.filter(({ control, detector: { matchesMin = 1 } }) => {
        return matchesMin > 1 && spans.filter(({ check }) => check === control.check).length < matchesMin;
      })
      .map(({ control }) => control.check);
    return few.length === 0 ? spans : spans.filter(({ check }) => !few.includes(check));
  }

  private controlsOf(policy: GuardrailPolicy, stage: GuardrailStage): StageControls {
    let stages = this.compiled.get(policy);
    if (!stages) this.compiled.set(policy, (stages = new Map<GuardrailStage, StageControls>()));
    let controls = stages.get(stage);
    if (!controls) stages.set(stage, (controls = stageControls(policy, stage)));
    return controls;
  }
}

/** Runs the span checks on a text. Returns their matches and the offset up to which these are final. */
function located({ spans: controls }: StageControls, text: string, before: string): Omit<LocalScan, 'decisions'> {
  const whole = before + text;
  const folds = new Map<boolean, FoldedText>();
  const found: GuardrailSpan[] = [];
  let decided = whole.length;
  for (const { control, action, detector } of controls) {
    const { ignoresCase, window, maskOf } = detector;
    const folded = folds.get(ignoresCase) ?? FoldedText.of(whole, ignoresCase);
    folds.set(ignoresCase, folded);
    for (const { start, end, category } of detector.find(folded.text)) {
      found.push({
        start: folded.startOf(start) - before.length,
        end: folded.endOf(end) - before.length,
        mask: maskOf(category),
        ...{ action, check: control.check, category },
        open: end === folded.text.length,
      });
    }
    const pending = detector.pendingFrom?.(folded.text) ?? folded.text.length;
    decided = Math.min(decided, folded.startOf(Math.max(0, Math.min(pending, folded.text.length - window))));
  }
  const spans = found
    .filter(({ end }) => end > 0)
    .map((span) => (span.start < 0 ? { ...span, start: 0 } : span))
    .sort((one, other) => one.start - other.start || other.end - one.end);
  return { spans, decidedTo: uncut(spans, Math.max(0, decided - before.length)) };
}

/** The last offset up to `place` that is not inside a span. */
const uncut = (spans: readonly GuardrailSpan[], place: number): number =>
  spans.reduceRight((at, { start, end }) => (start < at && at < end ? start : at), place);

const movedBy = (span: GuardrailSpan, offset: number): GuardrailSpan =>
  offset === 0 ? span : { ...span, start: span.start + offset, end: span.end + offset };

const decisionOf = ({ stage, check }: GuardrailControl, action: GuardrailAction) => ({
  stage,
  check,
  detector: DETECTORS[check],
  action,
});

const triggered = (control: GuardrailControl, action: GuardrailAction, category: string, score: number): GuardrailDecision => ({
  ...decisionOf(control, action),
  ...{ outcome: 'triggered', category, score, matchCount: 1 },
});

const notEvaluated = (control: GuardrailControl, action: GuardrailAction): GuardrailDecision => ({
  ...decisionOf(control, action),
  ...{ outcome: 'not_evaluated', category: null, score: null, matchCount: 0 },
});

/** Combines the findings: the verdict is the strictest outcome of all controls. */
function outcomeOf({ failOpen }: GuardrailPolicy, text: string, findings: readonly Findings[]): GuardrailScan {
  const decisions = findings.flatMap((each) => each.decisions);
  const spans = findings.flatMap((each) => each.spans ?? []);
  const isBlocked = decisions.some(({ outcome, action }) =>
    outcome === 'triggered' ? action === 'block' : !failOpen && action !== 'flag',
  );
  const isMasked = decisions.some(({ outcome, action }) => outcome === 'triggered' && action === 'redact');
  const usage = findings.reduce(
    (sum, { usage: used = NO_USAGE }) => ({
      promptTokens: sum.promptTokens + used.promptTokens,
      completionTokens: sum.completionTokens + used.completionTokens,
    }),
    NO_USAGE,
  );
  return { verdict: isBlocked ? 'block' : isMasked ? 'redact' : 'pass', text: maskSpans(text, spans), spans, decisions, usage };
}
