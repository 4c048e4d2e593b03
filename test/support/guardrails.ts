import {
  type GuardrailDecision,
  type GuardrailSpan,
  maskSpans,
} from '../../src/resources/guardrails/guardrail-decisions.policy.js';
import type {
  GuardrailAction,
  GuardrailCheck,
  GuardrailControl,
  GuardrailPolicy,
  GuardrailStage,
} from '../../src/resources/guardrails/guardrail.policy.js';
import {
  Guardrails,
  type GuardrailScan,
  type LocalScan,
  type ScanContext,
  type ScanOptions,
  type StageNeeds,
} from '../../src/resources/guardrails/guardrails.port.js';
import { AnswerGuards } from '../../src/dialogue/answering/guardrails/answer-guards.js';
import { InputGuard } from '../../src/dialogue/answering/intake/input-guard.js';
import { ConversationGuard } from '../../src/dialogue/conversation/conversation-guard.js';
import type { Commands } from '../../src/kernel/commands.js';
import type { Streams } from '../../src/kernel/event-sourcing/streams.js';

const unused = (): never => {
  throw new Error('Nothing is checked here.');
};

/** Guardrails that never check anything. */
export class NoGuardrails extends Guardrails {
  override checks: ReadonlySet<GuardrailCheck> = new Set<GuardrailCheck>();
  override policyFor = (): GuardrailPolicy | undefined => undefined;
  override needs = (_policy: GuardrailPolicy, _stage: GuardrailStage): StageNeeds => unused();
  override scan = (): Promise<GuardrailScan> => unused();
  override localScan = (): LocalScan => unused();
  override lookBack = (): number => unused();
  override beginningOf = (): string | undefined => unused();
}

export const noGuards = (commands: Commands): AnswerGuards => new AnswerGuards(new NoGuardrails(), commands);

/** An input guard without guardrails. */
export const noInputGuard = (streams: Streams, commands: Commands): InputGuard =>
  new InputGuard(new NoGuardrails(), new ConversationGuard(streams, new NoGuardrails()), commands);

const CODE = /CODE-(?:[0-9]{4}|[0-9]{0,3}$)/g;
const CODE_CHARACTERS = 9;

/** Finds codes such as CODE-1234, and blocks or masks them as the control for the stage specifies. */
export class CodeGuardrails extends Guardrails {
  override checks: ReadonlySet<GuardrailCheck> = new Set<GuardrailCheck>();
  override policyFor = (): GuardrailPolicy | undefined => undefined;
  override lookBack = (): number => CODE_CHARACTERS - 1;
  override beginningOf = (): string | undefined => undefined;

  override needs(policy: GuardrailPolicy, stage: GuardrailStage): StageNeeds {
    const controls = controlsOf(policy, stage);
    const complete = controls.filter(({ check }) => check === 'groundedness');
    return {
      local: controls.some(({ check }) => check === 'secrets'),
      remote: false,
      complete: complete.length > 0,
      holdsAll: policy.mode === 'scan_all' && complete.some(({ action }) => action === 'block'),
    };
  }

  override localScan(policy: GuardrailPolicy, stage: GuardrailStage, text: string, before = ''): LocalScan {
    const control = controlsOf(policy, stage).find(({ check }) => check === 'secrets');
    if (!control) return { spans: [], decidedTo: text.length, decisions: [] };
    const action = policy.mode === 'monitor_only' ? 'flag' : control.action;
    const found = [...(before + text).matchAll(CODE)].map(({ index, 0: match }) => ({ start: index, end: index + match.length }));
    const whole = found.filter(({ start, end }) => end - start === CODE_CHARACTERS && end > before.length);
    const spans = whole.map(({ start, end }): GuardrailSpan => ({
      start: Math.max(0, start - before.length),
      end: end - before.length,
      mask: '[CODE]',
      action,
      check: 'secrets',
      category: 'CODE',
      open: false,
    }));
    const decidedTo = Math.max(spans.at(-1)?.end ?? 0, text.length - CODE_CHARACTERS + 1, 0);
    return {
      spans,
      decidedTo: Math.min(decidedTo, text.length),
      decisions: spans.length === 0 ? [] : [decided(stage, 'secrets', action, 'CODE', spans.length)],
    };
  }

  /** An answer is grounded if it has no more words than the question. */
  override async scan(
    policy: GuardrailPolicy,
    stage: GuardrailStage,
    text: string,
    context: ScanContext,
    _signal: AbortSignal,
    { only = ['local', 'remote', 'complete'] }: ScanOptions = {},
  ): Promise<GuardrailScan> {
    const { spans, decisions } = this.localScan(policy, stage, only.includes('local') ? text : '');
    const grounding = controlsOf(policy, stage).find(({ check }) => check === 'groundedness');
    const isGrounded = text.split(' ').length <= (context.question ?? '').split(' ').length;
    const ungrounded =
      grounding && only.includes('complete') && !isGrounded
        ? [decided(stage, 'groundedness', policy.mode === 'monitor_only' ? 'flag' : grounding.action, 'UNGROUNDED', 1)]
        : [];
    const all = [...decisions, ...ungrounded];
    const has = (action: string) => all.some((decision) => decision.action === action);
    return {
      verdict: has('block') ? 'block' : has('redact') ? 'redact' : 'pass',
      text: maskSpans(text, spans),
      spans,
      decisions: all,
      usage: { promptTokens: 0, completionTokens: 0 },
    };
  }
}

/** Checks that use a model, so they cost tokens. */
export class JudgingGuardrails extends CodeGuardrails {
  override async scan(...given: Parameters<CodeGuardrails['scan']>) {
    return { ...(await super.scan(...given)), usage: { promptTokens: 100, completionTokens: 10 } };
  }
}

const controlsOf = ({ controls }: GuardrailPolicy, stage: GuardrailStage) =>
  controls.filter((control) => control.stage === stage);

const decided = (
  stage: GuardrailStage,
  check: GuardrailDecision['check'],
  action: GuardrailDecision['action'],
  category: string,
  matchCount: number,
): GuardrailDecision => ({ stage, check, detector: 'pattern', action, outcome: 'triggered', category, score: null, matchCount });

/** A policy with the action on codes per stage. */
export const codePolicy = (
  actions: Partial<Record<GuardrailStage, GuardrailAction>>,
  more: Partial<GuardrailPolicy> = {},
): GuardrailPolicy => ({
  mode: 'scan_all',
  failOpen: true,
  timeoutMs: 1_000,
  blockMessage: 'I cannot say that.',
  controls: Object.entries(actions).map(([stage, action]): GuardrailControl => ({
    check: 'secrets',
    stage: stage as GuardrailStage,
    action,
    settings: {},
  })),
  ...more,
});
