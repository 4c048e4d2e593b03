import { ConfiguredGuardrails } from '../../src/resources/guardrails/configured-guardrails.js';
import { maskSpans } from '../../src/resources/guardrails/guardrail-decisions.policy.js';
import { GuardrailOptions } from '../../src/resources/guardrails/guardrail-options.js';
import { GUARDRAIL_CHECKS, type GuardrailPolicy, PII_ENTITIES } from '../../src/resources/guardrails/guardrail.policy.js';
import { PolicyJudge } from '../../src/resources/guardrails/policy-judge.js';
import { LanguageModels, type ModelChunk } from '../../src/resources/models/model/language-model.port.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { type Bench, median, quantile } from './report.js';

const FRAMES = 1_500;
const WARM_UP_ROUNDS = 3;
const ROUNDS = 15;
const FRAME_MS_MAX = 0.3;
const HOSTILE_CHARACTERS = 200_000;

/** The local checks use no model. */
class NoModels extends LanguageModels {
  stream = (): AsyncIterable<ModelChunk> => {
    throw new Error('No check of these asks a model.');
  };
  list = () => Promise.resolve([]);
  defaultModelId = () => Promise.resolve('');
  has = () => Promise.resolve(false);
}

const settings = { enabled: true, checks: new Set(GUARDRAIL_CHECKS), floor: undefined, judgeModelId: undefined, retentionMs: 0 };
const options = new GuardrailOptions(settings);
const guardrails = new ConfiguredGuardrails(new PolicyJudge(new NoModels(), options), systemTiming, options);

/** Six controls. Only five apply to an answer, so the injection check runs on the same text as the result of a tool. */
const controlsAt = (stage: string) => [
  { check: 'pii', stage, action: 'redact', settings: { entities: PII_ENTITIES } },
  { check: 'secrets', stage, action: 'redact' },
  {
    check: 'denylist',
    stage,
    action: 'redact',
    settings: { terms: Array.from({ length: 500 }, (_, at) => `listed term ${at}`) },
  },
  { check: 'url', stage, action: 'redact', settings: { allow_hosts: ['example.com'], block_hosts: ['blocked.example.com'] } },
];
const POLICY: GuardrailPolicy = guardrails.policyFor({
  enabled: true,
  mode: 'scan_all',
  controls: [
    ...controlsAt('output'),
    { check: 'groundedness', stage: 'output', action: 'flag' },
    ...controlsAt('tool_result'),
    { check: 'injection', stage: 'tool_result', action: 'block' },
  ],
})!;

const WORDS =
  'The invoice of ann@example.com was sent on 2026-03-01 from 192.168.1.20; see https://example.com/a?b=1 for the 42 items. '.split(
    /(?<= )/,
  );
const FOREIGN = 'Die Rechnung für Jürgen wurde übermittelt – „vielen Dank“, 漢字 und Äpfel zu 3,50 € je Stück. '.split(/(?<= )/);

/** Milliseconds per frame of an answer that arrives word by word. Held text is checked again, and decided text is released. */
function answered(words: readonly string[]): readonly number[] {
  const took: number[] = [];
  let [before, held, shown] = ['', '', ''];
  for (let frame = 0; frame < FRAMES; frame++) {
    const begun = performance.now();
    held += words[frame % words.length]!;
    const { spans, decidedTo } = guardrails.localScan(POLICY, 'output', held, before);
    const released = maskSpans(
      held.slice(0, decidedTo),
      spans.filter(({ start }) => start < decidedTo),
    );
    before = (before + held.slice(0, decidedTo)).slice(-256);
    held = held.slice(decidedTo);
    took.push(performance.now() - begun);
    shown += released;
  }
  if (words === WORDS && !shown.includes('[EMAIL]')) throw new Error('Nothing was masked.');
  return took;
}

/** Milliseconds of the check at the end of the answer, which compares it with documents. */
async function compared(words: readonly string[]): Promise<number> {
  const text = Array.from({ length: FRAMES }, (_, at) => words[at % words.length]).join('');
  const begun = performance.now();
  await guardrails.scan(POLICY, 'output', text, { documents: [text] }, new AbortController().signal, { only: ['complete'] });
  return performance.now() - begun;
}

async function scanned(unit: string): Promise<number> {
  const text = unit.repeat(HOSTILE_CHARACTERS / unit.length);
  const begun = performance.now();
  await guardrails.scan(POLICY, 'tool_result', text, {}, new AbortController().signal);
  return performance.now() - begun;
}

export const bench: Bench = {
  name: 'guardrails',
  title: 'The cost of the six local guardrail checks per frame of an answer, in the mode scan_all',
  async run({ say }) {
    const frames: Record<string, number[]> = { english: [], foreign: [] };
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
      for (const [name, words] of [
        ['english', WORDS],
        ['foreign', FOREIGN],
      ] as const) {
        const whole = await compared(words);
        const each = answered(words).map((ms) => ms + whole / FRAMES);
        if (round >= WARM_UP_ROUNDS) frames[name]!.push(...each);
      }
    }
    say('hostile texts');
    const hostile = [];
    for (const unit of ['a', '1 ', 'a@', '001 ', 'DE89 ', 'ignore all ', '-----BEGIN PRIVATE KEY-----', 'é', 'http://'])
      hostile.push({ name: `200 kB of "${unit}" as a tool's result`, value: await scanned(unit), unit: 'ms' });
    return {
      figures: [
        { name: 'a frame, median', value: median(frames['english']!), unit: 'ms', target: { atMost: FRAME_MS_MAX } },
        { name: 'a frame, 99 % are below', value: quantile(frames['english']!, 0.99), unit: 'ms' },
        { name: 'a frame beyond ASCII, median', value: median(frames['foreign']!), unit: 'ms', target: { atMost: FRAME_MS_MAX } },
        { name: 'a frame beyond ASCII, 99 % are below', value: quantile(frames['foreign']!, 0.99), unit: 'ms' },
        ...hostile,
      ],
      notes: [
        `An answer has ${FRAMES} frames of one word; the denylist has 500 terms; all six kinds of personal data are searched for.`,
        'Five of the six checks run on the answer. The sixth, for injections, runs on the results of tools.',
      ],
    };
  },
};
