import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../../test/support/any-character.js';
import { FoldedText } from './folded-text.js';

describe('a folded text', () => {
  const character = fc.oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
    fc.constantFrom('a', 'Z', '9', ' ', '\u200b', '\u0301', 'ﬁ', '㏂', '٣', '한', '\u1112\u1161\u11ab', 'İ', 'ß', '𝟘', '\ud83d'),
  );
  it('maps each of its characters back to its origin', () => {
    fc.assert(
      fc.property(
        fc.array(character).map((all) => all.join('')),
        fc.boolean(),
        (original, ignoresCase) => {
          const folded = FoldedText.of(original, ignoresCase);
          let last = 0;
          for (let at = 0; at < folded.text.length; at++) {
            const [start, end] = [folded.startOf(at), folded.endOf(at + 1)];
            expect(start).toBeGreaterThanOrEqual(last);
            expect(end).toBeGreaterThan(start);
            expect(FoldedText.of(original.slice(start, end), ignoresCase).text).toContain(folded.text[at]);
            last = start;
          }
          expect([folded.startOf(folded.text.length), folded.endOf(0)]).toEqual([original.length, 0]);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('is the same for all variants of a text', () => {
    for (const way of ['café', 'cafe\u0301', 'ｃａｆｅ\u0301', 'c\u200ba\u2060f\u00adé', 'саfé'])
      expect(FoldedText.of(way, false).text).toBe('café');
    for (const way of ['STRASSE', 'straße', 'Stra\u00adße']) expect(FoldedText.of(way, true).text).toBe('strasse');
    expect(FoldedText.of('\u1112\u1161\u11ab', false).text).toBe('한');
  });
});
