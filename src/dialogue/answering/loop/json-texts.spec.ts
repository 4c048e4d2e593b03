import { describe, expect, it } from '@jest/globals';
import type { GuardrailSpan } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import { JsonTexts } from './json-texts.js';

const span = (start: number, end: number, mask = '[X]', action: GuardrailSpan['action'] = 'redact') =>
  ({ start, end, mask, action }) as GuardrailSpan;

describe('the texts of a JSON value', () => {
  const value = { name: 'Ann', sent: ['a@b.co', 42, null, ''], 'c@d.co': true };

  it('are joined, with or without keys', () => {
    expect(new JsonTexts(value).text).toBe('name\nAnn\nsent\na@b.co\n42\n\nc@d.co');
    expect(new JsonTexts(value, false).text).toBe('Ann\na@b.co\n42\n');
  });

  it('are masked in their places', () => {
    const texts = new JsonTexts(value);
    const at = (part: string) => texts.text.indexOf(part);
    const spans = [span(at('c@d'), at('c@d') + 6, '[KEY]'), span(at('a@b'), at('a@b') + 1), span(at('42'), at('42') + 2)];
    expect(texts.masked(spans)).toEqual({ name: 'Ann', sent: ['[X]@b.co', '[X]', null, ''], '[KEY]': true });
    expect(texts.masked([span(0, 99, '[X]', 'flag')])).toBe(value);
  });

  it('share the mask of matches that overlap, also across texts', () => {
    const texts = new JsonTexts(['abc', 'def', 'ghi']);
    expect(texts.masked([span(5, 9, '[B]'), span(2, 6, '[A]')])).toEqual(['ab[A]', '[A]', '[A]hi']);
  });

  it('are masked in one pass', () => {
    let looks = 0;
    const texts = new JsonTexts(Array.from({ length: 2_000 }, () => 'a@b.co'));
    const spans = Array.from({ length: 2_000 }, (_, index) => {
      const { start, ...rest } = span(7 * index, 7 * index + 6);
      return Object.defineProperty(rest, 'start', { enumerable: true, get: () => (looks++, start) }) as GuardrailSpan;
    });
    expect(texts.masked(spans)).toEqual(Array.from({ length: 2_000 }, () => '[X]'));
    expect(looks).toBeLessThan(200_000);
  });
});
