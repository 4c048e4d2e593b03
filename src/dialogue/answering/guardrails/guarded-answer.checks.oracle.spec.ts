import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  among,
  answerWithPauses,
  CALL,
  guarded,
  guardrails,
  lengths,
  ONLY_SECRETS,
  OTHERS,
  PAUSE,
  REDACTING,
  said,
  SECRETS,
  secretsIn,
  spansIn,
  texts,
  tokensOf,
} from '../../../../test/support/cut-answers.js';
import { maskSpans } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import type { AnswerDelta } from '../loop/answer-delta.js';

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
});
