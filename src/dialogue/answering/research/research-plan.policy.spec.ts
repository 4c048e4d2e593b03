import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../../test/support/any-character.js';
import { clarificationIn, distinctSources, planIn } from './research-plan.policy.js';

const MAX = { simple: 2, moderate: 4, complex: 6 };

describe('a plan', () => {
  it('has at least one step and at most as many as its complexity allows', () => {
    const step = fc.oneof(fc.record({ query: fc.string({ unit: anyCharacter }), rationale: fc.string() }), fc.anything());
    const written = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.record({ complexity: fc.string(), steps: fc.array(step, { maxLength: 12 }) }).map((plan) => JSON.stringify(plan)),
      fc.record({ complexity: fc.constantFrom(...Object.keys(MAX)), steps: fc.array(step) }).map((plan) => JSON.stringify(plan)),
      fc.anything().map((value) => `Here it is: ${JSON.stringify(value)}`),
    );
    fc.assert(
      fc.property(written, (text) => {
        const { steps, complexity } = planIn(text, 'Why?');
        expect(steps.length).toBeGreaterThan(0);
        expect(steps.length).toBeLessThanOrEqual(MAX[complexity]);
        expect(new Set(steps.map(({ query }) => query)).size).toBe(steps.length);
        for (const { query, rationale } of steps) {
          expect(query.trim()).not.toBe('');
          expect([query.isWellFormed(), rationale.isWellFormed()]).toEqual([true, true]);
        }
      }),
    );
  });

  it('is found within other text and has each query once', () => {
    const steps = [{ query: ' one\n two ', rationale: 'r' }, { query: 'one two', rationale: '' }, { query: 'three' }];
    const text = `Of course!\n\`\`\`json\n${JSON.stringify({ complexity: 'moderate', steps })}\n\`\`\``;
    expect(planIn(text, 'Why?')).toEqual({
      complexity: 'moderate',
      steps: [
        { query: 'one two', rationale: 'r' },
        { query: 'three', rationale: '' },
      ],
    });
  });
});

describe('a clarification question', () => {
  it.each([
    ['{"needs_clarification": true, "question": " Which? "}', 'Which?'],
    ['Sure: {"needs_clarification": true, "question": "Which?"}', 'Which?'],
    ['{"needs_clarification": true, "question": " "}', undefined],
    ['{"needs_clarification": "yes", "question": "Which?"}', undefined],
    ['{"needs_clarification": false, "question": "Which?"}', undefined],
    ['{"needs_clarification": true}', undefined],
    ['Which?', undefined],
    ['', undefined],
  ])('in %s is %s', (text, question) => expect(clarificationIn(text)).toBe(question));
});

describe('the sources of a research', () => {
  const source = (name: string, title: string, text = 'x') => ({ source: name, title, text, filename: '' });

  it('are the first passages of each pair of source and title', () => {
    const found = [source('a', '1', 'first'), source('a', '2'), source('a', '1', 'second'), source('b', '1')];
    expect(distinctSources(found)).toEqual([found[0], found[1], found[3]]);
  });

  it('are limited to the size of one frame', () => {
    const found = Array.from({ length: 200 }, (_, index) => source('a', String(index), 'y'.repeat(10_000)));
    const kept = distinctSources(found);
    expect(kept.length).toBeGreaterThan(30);
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(384 * 1024);
  });
});
