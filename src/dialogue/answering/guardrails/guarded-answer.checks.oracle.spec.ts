import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ConfiguredGuardrails } from '../../../resources/guardrails/configured-guardrails.js';
import { maskSpans } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import { GuardrailOptions } from '../../../resources/guardrails/guardrail-options.js';
import {
  GUARDRAIL_CHECKS,
  type GuardrailAction,
  type GuardrailPolicy,
  PII_ENTITIES,
} from '../../../resources/guardrails/guardrail.policy.js';
import type { PolicyJudge } from '../../../resources/guardrails/policy-judge.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { OpenMatches } from '../../conversation/conversation.events.js';
import { recordOf } from '../../conversation/tool-call.policy.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { GuardedAnswer } from './guarded-answer.js';
import { GuardrailBlock } from '../loop/guardrail-block.js';
import { TurnGuard } from '../loop/turn-guard.js';

const options = new GuardrailOptions({
  enabled: true,
  checks: new Set(GUARDRAIL_CHECKS),
  floor: undefined,
  judgeModelId: undefined,
  retentionMs: 1,
});
const guardrails = new ConfiguredGuardrails({} as PolicyJudge, systemTiming, options);

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
const FLAGGING_LINKS = guardrails.policyFor({
  enabled: true,
  mode: 'scan_all',
  controls: [
    { check: 'secrets', stage: 'output', action: 'redact' },
    { check: 'url', stage: 'output', action: 'flag', settings: { block_hosts: ['bad.example.com'] } },
  ],
})!;
const ONLY_SECRETS: GuardrailPolicy = { ...FLAGGING_LINKS, controls: FLAGGING_LINKS.controls.slice(0, 1) };
const [REDACTING, BLOCKING, MONITORING] = [policyThat('redact'), policyThat('block'), policyThat('block', 'monitor_only')];

const SECRETS = [
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
const INNOCENT = [
  'It is so. ',
  'Well, ',
  'naïve 漢字 😀 ',
  '\n\n',
  'see (above): ',
  'no. 12 of 7 ',
  'a'.repeat(300) + ' ',
] as const;

/** Texts made of secrets and harmless parts. */
const texts = fc.array(
  fc.oneof(
    fc.constantFrom(...INNOCENT),
    fc.constantFrom(...SECRETS).map((secret) => ` ${secret} `),
  ),
  { minLength: 1, maxLength: 6 },
);
const lengths = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 30 });
const tokensOf = (text: string, sizes: readonly number[]): string[] => {
  const tokens: string[] = [];
  for (let at = 0; at < text.length; at += tokens.at(-1)!.length) {
    tokens.push(text.slice(at, at + sizes[tokens.length % sizes.length]!));
  }
  return tokens;
};
const said = (text: string): AnswerDelta => ({ type: 'text', text });
const CALL: AnswerDelta = {
  type: 'tool-call',
  record: recordOf(
    { callId: 'c1', toolId: 't', toolName: 'api_tool', actionName: 'look', name: 'look', arguments: {}, argumentsSha256: '' },
    { status: 'pending' },
  ),
};
const PAUSE: AnswerDelta = { type: 'pause', calls: [], continuation: '{}' };
const OTHERS = fc.constantFrom<AnswerDelta>(
  CALL,
  { type: 'thought', text: 'Hm. ' },
  { type: 'round-over' },
  { type: 'checkpoint' },
  { type: 'progress', frame: { type: 'workflow_run', workflow_run_id: 'r1' } },
);

async function guarded(deltas: readonly AnswerDelta[], policy: GuardrailPolicy, answer = '', openMatches: OpenMatches = {}) {
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

const isOfLinks = ({ check }: { check: string }) => check === 'url';
const secretsIn = (text: string) => SECRETS.filter((secret) => text.includes(secret));
const spansIn = (text: string) => guardrails.localScan(REDACTING, 'output', text).spans;

describe('the checks of single texts, in an answer split into any tokens', () => {
  it('mask the same matches as in the complete text', async () => {
    await fc.assert(
      fc.asyncProperty(texts, lengths, async (parts, sizes) => {
        const text = parts.join('');
        expect((await guarded(tokensOf(text, sizes).map(said), REDACTING)).answer).toBe(maskSpans(text, spansIn(text)));
      }),
      { numRuns: 200 },
    );
  });

  it('block at the first match and show no part of it', async () => {
    await fc.assert(
      fc.asyncProperty(texts, lengths, async (parts, sizes) => {
        const text = parts.join('');
        const { answer, thrown } = await guarded(tokensOf(text, sizes).map(said), BLOCKING);
        const [first] = spansIn(text);
        expect(thrown instanceof GuardrailBlock).toBe(first !== undefined);
        expect(text.slice(0, first?.start).startsWith(answer)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('change nothing if the policy only monitors', async () => {
    await fc.assert(
      fc.asyncProperty(texts, lengths, fc.array(fc.tuple(fc.nat(60), OTHERS), { maxLength: 8 }), async (parts, sizes, others) => {
        const deltas = among(tokensOf(parts.join(''), sizes).map(said), others);
        expect((await guarded(deltas, MONITORING)).shown).toEqual(deltas);
      }),
      { numRuns: 100 },
    );
  });

  it('delay nothing if they only flag, and count each match once', async () => {
    const linksIn = (text: string) => guardrails.localScan(FLAGGING_LINKS, 'output', text).decisions.filter(isOfLinks);
    await fc.assert(
      fc.asyncProperty(texts, lengths, async (parts, sizes) => {
        const text = parts.join('');
        const tokens = tokensOf(text, sizes).map(said);
        const { shown, decisions } = await guarded(tokens, FLAGGING_LINKS);
        expect(shown).toEqual((await guarded(tokens, ONLY_SECRETS)).shown);
        expect(decisions.filter(isOfLinks)).toEqual(linksIn(text));
      }),
      { numRuns: 100 },
    );
  });

  it('let no secret through around calls, thoughts, rounds and checkpoints', async () => {
    await fc.assert(
      fc.asyncProperty(texts, lengths, fc.array(fc.tuple(fc.nat(60), OTHERS), { maxLength: 8 }), async (parts, sizes, others) => {
        const deltas = among(tokensOf(parts.join(''), sizes).map(said), others);
        expect(secretsIn((await guarded(deltas, REDACTING)).answer)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('show no line of a private key and no part of a token with other deltas between its lines, or anywhere in it', async () => {
    const others = fc.constantFrom(CALL, { type: 'thought', text: 'Hm. ' } as const, { type: 'checkpoint' } as const);
    const splitSecrets = fc.constantFrom(...SECRETS.filter((secret) => secret.length > 256));
    await fc.assert(
      fc.asyncProperty(splitSecrets, fc.option(lengths), others, async (secret, sizes, other) => {
        const beginning = /^-.*-\n|^eyJ\w+\./.exec(secret)![0];
        const rest = secret.slice(beginning.length);
        const tokens = sizes ? tokensOf(rest, sizes) : rest.split(/(?<=[\n.])/);
        const deltas = ['The key:\n', beginning, ...tokens, ' It ends.'].flatMap((token) => [said(token), other]);
        expect((await guarded(deltas, REDACTING)).answer).toBe('The key:\n[REDACTED] It ends.');
      }),
      { numRuns: 200 },
    );
  });

  it('show nothing of a secret from where it is recognised, and all that follows it, with pauses and other deltas anywhere in it', async () => {
    const secrets = fc.constantFrom(
      ...SECRETS.filter((secret) => guardrails.localScan(ONLY_SECRETS, 'output', secret).spans.length > 0),
      ...['sk-ant-', 'hooks.slack.com/services/', 'AccountKey=', 'hvs.'].map((sign) => sign + 'Ab3'.repeat(20)),
    );
    const after = fc.array(
      fc.constantFrom<AnswerDelta>(CALL, PAUSE, { type: 'checkpoint' }, { type: 'thought', text: 'Hm. ' }, said('')),
      { minLength: 1, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(secrets, lengths, fc.array(after, { minLength: 1, maxLength: 5 }), async (secret, sizes, others) => {
        // The END line of a key is not cut: its rest after a pause may be part of the key.
        const [, middle, end = ''] = /^([^]*?)(-----END[^]*)?$/.exec(secret)!;
        const tokens = ['The key:\n', ...tokensOf(middle!, sizes), `${end} It ends.`];
        const answer = await answerWithPauses([
          ...tokens.flatMap((token, at) => [said(token), ...others[at % others.length]!]),
          PAUSE,
        ]);
        const [, beginning] = /^The key:\n([^]*)\[REDACTED\] It ends\.$/.exec(answer)!;
        expect(secret.startsWith(beginning!)).toBe(true);
        expect(guardrails.localScan(ONLY_SECRETS, 'output', beginning!).spans).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('show what follows a pause unchanged if no secret was open before it', async () => {
    const harmless = fc.array(fc.constantFrom(...INNOCENT, 'AKIAIOSFODNN7EXAMPLE ', 'ann.lee@mail.example.org', 'Project Zebra'));
    await fc.assert(
      fc.asyncProperty(harmless, harmless, async (first, second) => {
        const runs = [[said(first.join('')), PAUSE], [said(` ${second.join('')}`)]];
        const alone = await Promise.all(runs.map((deltas) => guarded(deltas, ONLY_SECRETS)));
        expect(alone[0]!.shown.at(-1)).toEqual(PAUSE);
        expect(await answerWithPauses(runs.flat())).toBe(alone.map(({ answer }) => answer).join(''));
      }),
      { numRuns: 100 },
    );
  });

  it('let no secret through around a pause', async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.nat(600), async (parts, place) => {
        const text = parts.join('');
        const before = (await guarded([said(text.slice(0, place))], REDACTING)).answer;
        const after = (await guarded([said(text.slice(place))], REDACTING, before)).answer;
        expect(secretsIn(before + after)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

/** The answer of a turn that is resumed after each pause. */
async function answerWithPauses(deltas: readonly AnswerDelta[]): Promise<string> {
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
function among(deltas: readonly AnswerDelta[], others: readonly (readonly [number, AnswerDelta])[]): AnswerDelta[] {
  const all = [...deltas];
  for (const [place, other] of others) all.splice(place % (all.length + 1), 0, other);
  return all;
}
