import { describe, expect, it } from '@jest/globals';
import {
  decisionsOf,
  type GuardrailDecision,
  type GuardrailSpan,
  maskSpans,
  masksOf,
  mergeDecisions,
} from './guardrail-decisions.policy.js';

const span = (start: number, end: number, more: Partial<GuardrailSpan> = {}): GuardrailSpan => ({
  ...{ start, end, mask: '[X]', action: 'redact', check: 'pii', category: 'EMAIL', open: false },
  ...more,
});
const decision: GuardrailDecision = {
  ...{ stage: 'output', check: 'pii', detector: 'pattern', action: 'redact', outcome: 'triggered' },
  ...{ category: 'EMAIL', score: null, matchCount: 2 },
};

describe('the decisions about a text', () => {
  it('are one for each check', () =>
    expect(
      decisionsOf('output', [span(0, 1), span(2, 3, { check: 'denylist', category: 'TERM', action: 'block' }), span(4, 5)]),
    ).toEqual([
      decision,
      { ...decision, check: 'denylist', detector: 'list', action: 'block', category: 'TERM', matchCount: 1 },
    ]));
  it('are none if nothing was found', () => expect(decisionsOf('output', [])).toEqual([]));

  it.each([
    [['PHONE', 'EMAIL', 'EMAIL'], 'EMAIL'],
    [['PHONE', 'EMAIL', 'EMAIL', 'PHONE'], 'PHONE'],
  ])('name of the categories %j the category %s', (categories, category) =>
    expect(
      decisionsOf(
        'input',
        categories.map((each) => span(0, 1, { category: each })),
      ),
    ).toMatchObject([{ category }]),
  );
});

describe('a mask', () => {
  it.each([
    ['replaces a match', [span(1, 3)], 'a[X]defgh'],
    ['replaces matches in their order in the text', [span(6, 7, { mask: '[2]' }), span(0, 1, { mask: '[1]' })], '[1]bcdef[2]h'],
    ['is not used for other actions', [span(0, 1, { action: 'flag' }), span(2, 3, { action: 'block' })], 'abcdefgh'],
    ['is shared by overlapping matches', [span(2, 5, { mask: '[2]' }), span(1, 3, { mask: '[1]' })], 'a[1]fgh'],
    ['is shared with a match inside another', [span(1, 6, { mask: '[1]' }), span(2, 3, { mask: '[2]' })], 'a[1]gh'],
    ['of the longer of two matches at one place is used', [span(1, 2, { mask: '[2]' }), span(1, 4, { mask: '[1]' })], 'a[1]efgh'],
    ['is not shared by adjacent matches', [span(1, 3), span(3, 4)], 'a[X][X]efgh'],
  ])('%s', (_, spans, masked) => expect(maskSpans('abcdefgh', spans)).toBe(masked));

  it('has the bounds of the matches that it replaces', () =>
    expect(masksOf([span(2, 5), span(1, 3)])).toEqual([{ start: 1, end: 5, mask: '[X]' }]));
});

describe('decisions about several texts', () => {
  const unevaluated: GuardrailDecision = { ...decision, outcome: 'not_evaluated', category: null, matchCount: 0 };
  it.each([
    ['of one control are added up', [decision, { ...decision, category: 'PHONE' }], [{ ...decision, matchCount: 4 }]],
    ['prefer a match to a failure', [unevaluated, decision], [decision]],
    ['prefer a match to a later failure', [decision, unevaluated], [decision]],
    ['keep a failure', [unevaluated, unevaluated], [unevaluated]],
    [
      'of different controls are kept',
      [decision, { ...decision, stage: 'input' as const }, { ...decision, check: 'url' as const }],
      [decision, { ...decision, stage: 'input' }, { ...decision, check: 'url' }],
    ],
  ])('%s', (_, decisions, merged) => expect(mergeDecisions(decisions)).toEqual(merged));
});
