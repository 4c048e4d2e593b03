import { describe, expect, it } from '@jest/globals';
import { stepQuestion, synthesisQuestion } from './research-prompts.policy.js';

const plan = {
  complexity: 'moderate',
  steps: ['Where tea grows', 'Who drinks it', 'What it costs'].map((query) => ({ query, rationale: '' })),
} as const;

it('the question of a step has the reason for it, if there is one', () => {
  const query = 'Where tea grows';
  expect(stepQuestion('Tea?', { query, rationale: 'Origin.' })).toMatch(/Query of this step: Where tea grows\nWhy: Origin\.$/);
  expect(stepQuestion('Tea?', { query, rationale: '' })).toMatch(/Query of this step: Where tea grows$/);
});

describe('the question for the final answer', () => {
  it('has the reports with their queries, and the queries that were not investigated', () => {
    const text = synthesisQuestion('Tea?', plan, ['In Assam.', ' '], 10_000);
    expect(text).toContain('### 1. Where tea grows\nIn Assam.');
    expect(text).toContain('### 2. Who drinks it\nNothing was reported.');
    expect(text).toMatch(/Not investigated, for want of time:\n- What it costs$/);
  });
  it('names no open queries if all were investigated', () =>
    expect(synthesisQuestion('Tea?', plan, ['a', 'b', 'c'], 10_000)).not.toContain('Not investigated'));
  it('says that nothing was reported if there are no reports', () =>
    expect(synthesisQuestion('Tea?', plan, [], 10_000)).toContain('<reports>\n\nNothing was reported.\n\n</reports>'));
  it('truncates each report to its share, which is at least 500 characters', () => {
    const shares = (charactersMax: number) =>
      synthesisQuestion('Tea?', plan, ['A'.repeat(2_000), 'B'.repeat(2_000)], charactersMax)
        .match(/A+|B{9,}/g)!
        .map(({ length }) => length);
    expect(shares(3_000)).toEqual([1_500, 1_500]);
    expect(shares(10)).toEqual([500, 500]);
  });
  it('does not end a report with half of a surrogate pair', () =>
    expect(synthesisQuestion('Tea?', plan, [`${'A'.repeat(499)}🐑`], 500).isWellFormed()).toBe(true));
});
