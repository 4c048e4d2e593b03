import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  among,
  answerWithPauses,
  BLOCKING,
  FLAGGING_LINKS,
  guarded,
  guardrails,
  INNOCENT,
  lengths,
  MONITORING,
  ONLY_SECRETS,
  OTHERS,
  PAUSE,
  REDACTING,
  said,
  secretsIn,
  spansIn,
  texts,
  tokensOf,
} from '../../../../test/support/cut-answers.js';
import { GuardrailBlock } from '../loop/guardrail-block.js';

const isOfLinks = ({ check }: { check: string }) => check === 'url';

describe('the checks of single texts, in an answer split into any tokens', () => {
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
