import { systemTiming } from '../../src/platform/system-timing.js';
import { ConfiguredGuardrails } from '../../src/resources/guardrails/configured-guardrails.js';
import { GuardrailOptions, type GuardrailSettings } from '../../src/resources/guardrails/guardrail-options.js';
import { GUARDRAIL_CHECKS, type GuardrailPolicy, PII_ENTITIES } from '../../src/resources/guardrails/guardrail.policy.js';
import { PolicyJudge } from '../../src/resources/guardrails/policy-judge.js';
import {
  LanguageModels,
  type ModelChunk,
  ModelFailed,
  type ModelRequest,
} from '../../src/resources/models/model/language-model.port.js';

export type JudgeAnswer = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelChunk>;

/** Language models whose judge answers with the given function. */
class JudgeModels extends LanguageModels {
  readonly requests: ModelRequest[] = [];
  constructor(private readonly answer: JudgeAnswer) {
    super();
  }

  stream(request: ModelRequest, signal: AbortSignal) {
    this.requests.push(request);
    return this.answer(request, signal);
  }

  list() {
    const model = {
      displayName: '',
      description: '',
      attachmentTypes: [],
      tools: false,
      structuredOutput: true,
      streaming: true,
    };
    const known = { ...model, contextWindow: 8000, reasoningEffort: null };
    return Promise.resolve([
      { ...known, id: 'offline', provider: 'verbatim' },
      { ...known, id: 'judge', provider: 'x' },
    ]);
  }
  defaultModelId = () => Promise.resolve('judge');
  has = () => Promise.resolve(true);
}

/** Judges that answer with a text, not at all, or with a failure. */
export const answersWith = (text: string): JudgeAnswer =>
  async function* () {
    yield { type: 'text', text };
    yield { type: 'usage', promptTokens: 10, completionTokens: 2 };
    await Promise.resolve();
  };
export const neverAnswers: JudgeAnswer = async function* (_, signal) {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  yield* [];
};
export const failsToAnswer: JudgeAnswer = async function* () {
  await Promise.resolve();
  yield* [];
  throw new ModelFailed('overloaded', 'Too much.', true);
};

const settings: GuardrailSettings = {
  enabled: true,
  checks: new Set(GUARDRAIL_CHECKS),
  floor: undefined,
  judgeModelId: undefined,
  retentionMs: 1,
};

/** Guardrails whose policies in words are judged by these models. */
export function guardrailsWith(answer: JudgeAnswer, more: Partial<GuardrailSettings> = {}) {
  const models = new JudgeModels(answer);
  const options = new GuardrailOptions({ ...settings, ...more });
  return { models, guardrails: new ConfiguredGuardrails(new PolicyJudge(models, options), systemTiming, options) };
}
/** Guardrails for checks that need no judge. */
export const { guardrails } = guardrailsWith(failsToAnswer);

export const policyOf = (controls: readonly object[], more: object = {}, by = guardrails): GuardrailPolicy =>
  by.policyFor({ enabled: true, mode: 'scan_all', controls, ...more })!;

/** A control of each check that can mask. */
export const maskingControls = (stage: string) => [
  { check: 'pii', stage, action: 'redact', settings: { entities: PII_ENTITIES } },
  { check: 'secrets', stage, action: 'redact' },
  { check: 'denylist', stage, action: 'redact', settings: { terms: ['project zebra', 'omega'] } },
  { check: 'url', stage, action: 'redact', settings: { allow_hosts: ['example.com'], block_hosts: ['bad.example.com'] } },
];
export const MASKING_POLICY = policyOf(maskingControls('output'));
