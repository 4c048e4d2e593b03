import fc from 'fast-check';
import { GuardedAnswer } from '../../src/dialogue/answering/guardrails/guarded-answer.js';
import type { AnswerDelta } from '../../src/dialogue/answering/loop/answer-delta.js';
import { TurnGuard } from '../../src/dialogue/answering/loop/turn-guard.js';
import type { OpenMatches } from '../../src/dialogue/conversation/conversation.events.js';
import { recordOf } from '../../src/dialogue/conversation/tool-call.policy.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { ConfiguredGuardrails } from '../../src/resources/guardrails/configured-guardrails.js';
import { GuardrailOptions } from '../../src/resources/guardrails/guardrail-options.js';
import {
  GUARDRAIL_CHECKS,
  type GuardrailAction,
  type GuardrailPolicy,
  PII_ENTITIES,
} from '../../src/resources/guardrails/guardrail.policy.js';
import type { PolicyJudge } from '../../src/resources/guardrails/policy-judge.js';

const options = new GuardrailOptions({
  enabled: true,
  checks: new Set(GUARDRAIL_CHECKS),
  floor: undefined,
  judgeModelId: undefined,
  retentionMs: 1,
});
export const guardrails = new ConfiguredGuardrails({} as PolicyJudge, systemTiming, options);

/** All checks that need only the text. */
const policyThat = (action: GuardrailAction, mode = 'scan_all'): GuardrailPolicy =>
  guardrails.policyFor({
    enabled: true,
    mode,
    controls: [
      { check: 'pii', stage: 'output', action, settings: { entities: PII_ENTITIES } },
      { check: 'secrets', stage: 'output', action },
      { check: 'denylist', stage: 'output', action, settings: { terms: ['project zebra', 'ömega'], match: 'word' } },
      { check: 'url', stage: 'output', action, settings: { block_hosts: ['bad.example.com'] } },
    ],
  })!;
/** Masks secrets, and only flags links. */
export const FLAGGING_LINKS = guardrails.policyFor({
  enabled: true,
  mode: 'scan_all',
  controls: [
    { check: 'secrets', stage: 'output', action: 'redact' },
    { check: 'url', stage: 'output', action: 'flag', settings: { block_hosts: ['bad.example.com'] } },
  ],
})!;
export const ONLY_SECRETS: GuardrailPolicy = { ...FLAGGING_LINKS, controls: FLAGGING_LINKS.controls.slice(0, 1) };
export const [REDACTING, BLOCKING, MONITORING] = [policyThat('redact'), policyThat('block'), policyThat('block', 'monitor_only')];

export const SECRETS = [
  'ann.lee@mail.example.org',
  '4111 1111 1111 1111',
  '123-45-6789',
  '+49 151 12345678',
  '192.168.17.254',
  'DE89 3704 0044 0532 0130 00',
  'AKIAIOSFODNN7EXAMPLE',
  'ghp_0123456789abcdefghijABCDEFGHIJ012345',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n'.repeat(12)}-----END PRIVATE KEY-----`,
  // Longer than text that is scanned with every delta.
  `eyJhbGciOiJIUzI1NiJ9.${'eyJzdWIiOiIx'.repeat(120)}.dozjgNryP4J3`,
  `-----BEGIN EC PRIVATE KEY-----\n${'MHcCAQEEIBwkoAoGCCqGSM49AwEHoUQDQgAE\n'.repeat(50)}-----END EC PRIVATE KEY-----`,
  'Project Zebra',
  'ÖMEGA',
  'https://bad.example.com/pixel.png?q=1',
] as const;
export const INNOCENT = [
  'It is so. ',
  'Well, ',
  'naïve 漢字 😀 ',
  '\n\n',
  'see (above): ',
  'no. 12 of 7 ',
  'a'.repeat(300) + ' ',
] as const;

/** Texts made of secrets and harmless parts. */
export const texts = fc.array(
  fc.oneof(
    fc.constantFrom(...INNOCENT),
    fc.constantFrom(...SECRETS).map((secret) => ` ${secret} `),
  ),
  { minLength: 1, maxLength: 6 },
);
export const lengths = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 30 });
export const tokensOf = (text: string, sizes: readonly number[]): string[] => {
  const tokens: string[] = [];
  for (let at = 0; at < text.length; at += tokens.at(-1)!.length) {
    tokens.push(text.slice(at, at + sizes[tokens.length % sizes.length]!));
  }
  return tokens;
};
export const said = (text: string): AnswerDelta => ({ type: 'text', text });
export const CALL: AnswerDelta = {
  type: 'tool-call',
  record: recordOf(
    { callId: 'c1', toolId: 't', toolName: 'api_tool', actionName: 'look', name: 'look', arguments: {}, argumentsSha256: '' },
    { status: 'pending' },
  ),
};
export const PAUSE: AnswerDelta = { type: 'pause', calls: [], continuation: '{}' };
export const OTHERS = fc.constantFrom<AnswerDelta>(
  CALL,
  { type: 'thought', text: 'Hm. ' },
  { type: 'round-over' },
  { type: 'checkpoint' },
  { type: 'progress', frame: { type: 'workflow_run', workflow_run_id: 'r1' } },
);

/** Guards the deltas and returns what is shown, the error that ended the answer, and the decisions. */
export async function guarded(
  deltas: readonly AnswerDelta[],
  policy: GuardrailPolicy,
  answer = '',
  openMatches: OpenMatches = {},
) {
  const guard = new TurnGuard(guardrails, policy, new AbortController().signal);
  const context = { question: 'Why?', schema: null, before: { answer, thought: '', openMatches } };
  const shown: AnswerDelta[] = [];
  let thrown: unknown;
  const composed = (async function* () {
    await Promise.resolve();
    yield* deltas;
  })();
  try {
    for await (const delta of new GuardedAnswer(guard, context).through(composed)) shown.push(delta);
  } catch (error) {
    thrown = error;
  }
  const { decisions } = guard;
  return { shown, thrown, decisions, answer: shown.map((delta) => (delta.type === 'text' ? delta.text : '')).join('') };
}

export const secretsIn = (text: string) => SECRETS.filter((secret) => text.includes(secret));
export const spansIn = (text: string) => guardrails.localScan(REDACTING, 'output', text).spans;

/** The answer of a turn that is resumed after each pause. */
export async function answerWithPauses(deltas: readonly AnswerDelta[]): Promise<string> {
  let answer = '';
  let open: OpenMatches | undefined;
  for (let at = 0; at < deltas.length;) {
    const end = deltas.indexOf(PAUSE, at);
    const run = await guarded(deltas.slice(at, end === -1 ? undefined : end + 1), ONLY_SECRETS, answer, open);
    answer += run.answer;
    const pause = run.shown.at(-1);
    open = pause?.type === 'pause' ? pause.openMatches : undefined;
    at = end === -1 ? deltas.length : end + 1;
  }
  return answer;
}

/** Inserts other deltas at the given places. */
export function among(deltas: readonly AnswerDelta[], others: readonly (readonly [number, AnswerDelta])[]): AnswerDelta[] {
  const all = [...deltas];
  for (const [place, other] of others) all.splice(place % (all.length + 1), 0, other);
  return all;
}
