import type { Detector, Match } from './detector.js';
import { foldedTerm } from './folded-text.js';
import { GAP_MAX, Terms } from './terms.js';

type DenylistSettings = Readonly<{ terms: readonly string[]; match: 'word' | 'substring'; case_sensitive: boolean }>;

const WORD_CHARACTERS_MAX = 2;
const ENDS_IN_WORD = /[\p{L}\p{N}\p{M}_]$/u;
const BEGINS_IN_WORD = /^[\p{L}\p{N}\p{M}_]/u;

/**
 * Finds the terms that an agent's owner lists. In the mode `word`, a term that begins or ends with a letter, digit or `_` matches
 * only if no such character precedes or follows it.
 */
export function denylist({ terms, match, case_sensitive: isCaseSensitive }: DenylistSettings): Detector {
  const folded = terms.map((term) => foldedTerm(term, !isCaseSensitive).trim());
  const search = new Terms(folded);
  const longest = Math.max(0, ...folded.map((term) => term.length + GAP_MAX * gapsIn(term)));
  return {
    // Whether a term is a whole word depends on the character after it.
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

const gapsIn = (term: string) => term.match(/\s+/g)?.length ?? 0;

function isWord(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - WORD_CHARACTERS_MAX), start);
  const after = text.slice(end, end + WORD_CHARACTERS_MAX);
  const term = text.slice(start, end);
  if (BEGINS_IN_WORD.test(term) && ENDS_IN_WORD.test(before)) return false;
  return !(ENDS_IN_WORD.test(term) && BEGINS_IN_WORD.test(after));
}
