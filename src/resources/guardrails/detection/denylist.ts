import type { Detector, Match } from './detector.js';
import { foldedTerm } from './folded-text.js';
import { Terms } from './terms.js';

type DenylistSettings = Readonly<{ terms: readonly string[]; match: 'word' | 'substring'; case_sensitive: boolean }>;

const WORD_CHARACTERS_MAX = 2;
const ENDS_IN_WORD = /[\p{L}\p{N}\p{M}_]$/u;
const BEGINS_IN_WORD = /^[\p{L}\p{N}\p{M}_]/u;

/** Terms that its owner has listed. In the mode `word` no letter, digit or `_` stands beside a term that begins or ends with one. */
export function denylist({ terms, match, case_sensitive: isCaseSensitive }: DenylistSettings): Detector {
  const folded = terms.map((term) => foldedTerm(term, !isCaseSensitive).trim());
  const search = new Terms(folded);
  const longest = Math.max(0, ...folded.map(({ length }) => length));
  return {
    // The character behind a term says whether it is a word.
    window: longest + WORD_CHARACTERS_MAX,
    ignoresCase: !isCaseSensitive,
    maskOf: () => '***',
    find: (text) => {
      const found: Match[] = [];
      for (const { start, end } of search.in(text))
        if (match === 'substring' || isWord(text, start, end)) found.push({ start, end, category: 'DENYLIST' });
      return found;
    },
  };
}

function isWord(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - WORD_CHARACTERS_MAX), start);
  const after = text.slice(end, end + WORD_CHARACTERS_MAX);
  const term = text.slice(start, end);
  if (BEGINS_IN_WORD.test(term) && ENDS_IN_WORD.test(before)) return false;
  return !(ENDS_IN_WORD.test(term) && BEGINS_IN_WORD.test(after));
}
