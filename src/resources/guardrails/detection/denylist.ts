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
      const edges = match === 'word' ? wordEdges(text) : undefined;
      return merged(search.longestIn(text, edges));
    },
  };
}

/** Overlapping places, in the order of their ends, become one match: they get one mask, and a row of them may be long. */
function merged(places: Iterable<Readonly<{ start: number; end: number }>>): Match[] {
  const found: Match[] = [];
  for (const place of places) {
    let { start } = place;
    while (found.length > 0 && start < found.at(-1)!.end) start = Math.min(start, found.pop()!.start);
    found.push({ start, end: place.end, category: 'DENYLIST' });
  }
  return found;
}

const gapsIn = (term: string) => term.match(/\s+/g)?.length ?? 0;

/** A word does not begin or end between two characters that belong to words. */
function wordEdges(text: string) {
  const isBetweenWords = (place: number) =>
    !ENDS_IN_WORD.test(text.slice(Math.max(0, place - WORD_CHARACTERS_MAX), place)) ||
    !BEGINS_IN_WORD.test(text.slice(place, place + WORD_CHARACTERS_MAX));
  return { mayBegin: isBetweenWords, mayEnd: isBetweenWords };
}
