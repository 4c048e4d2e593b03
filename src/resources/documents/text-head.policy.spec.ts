import { expect, it } from '@jest/globals';
import { headOf } from './text-head.policy.js';
import { tokenCount } from './token-count.js';

it('returns a text that fits unchanged', () => {
  const text = 'one two three\n'.repeat(2_000);
  expect(headOf(text, 100_000)).toEqual({ text, tokens: expect.any(Number), isCut: false });
  expect(headOf('', 5)).toEqual({ text: '', tokens: 0, isCut: false });
});

it('cuts a longer text at the end of a line within the maximum tokens', () => {
  const { text, tokens, isCut } = headOf('one two three\n'.repeat(20_000), 1_000);
  expect({ isCut, tokens }).toEqual({ isCut: true, tokens: tokenCount(text) });
  expect(text.endsWith('three\n')).toBe(true);
  expect(tokens).toBeLessThanOrEqual(1_000);
  expect(tokens).toBeGreaterThan(950);
});

it('does not split a character, and returns nothing if not even one fits', () => {
  const { text, tokens } = headOf('👩‍🚀'.repeat(1_000), 100);
  expect(text.isWellFormed()).toBe(true);
  expect([tokens > 50, tokens <= 100]).toEqual([true, true]);
  expect(headOf('word', 0)).toEqual({ text: '', tokens: 0, isCut: true });
});
