/** A match in a folded text, from `start` up to but excluding `end`. */
export type Match = Readonly<{ start: number; end: number; category: string }>;

/** Finds one kind of matches in folded texts, in linear time. */
export type Detector = Readonly<{
  /**
   * The number of characters at the end of a text that may begin a match that `find` does not see yet. A match that begins before
   * them is found with the right start, but may still become longer.
   */
  window: number;
  /** Whether the folded text is in lower case. */
  ignoresCase: boolean;
  /** The replacement for a redacted match. */
  maskOf: (category: string) => string;
  find: (text: string) => readonly Match[];
  /** The minimum number of matches in a text, default 1. Fewer matches do not count. */
  matchesMin?: number;
  /** The start of a possible match that reaches the end of the text and begins before the window; undefined if there is none. */
  pendingFrom?: (text: string) => number | undefined;
  /**
   * A made-up beginning of a match of this category, after which `find` recognises the rest of a match of which only the category is
   * known; undefined if matches of the category do not continue, or if their rest may be shown.
   */
  beginningOf?: (category: string) => string | undefined;
}>;

/** All matches of a pattern, which must have the flag `g`. */
export function matchesOf(text: string, pattern: RegExp, category: string): Match[] {
  const found: Match[] = [];
  for (const match of text.matchAll(pattern)) found.push({ start: match.index, end: match.index + match[0].length, category });
  return found;
}

/**
 * The valid matches among the candidates of a pattern, which must have the flag `g`. `lengthOf` returns the length of the match
 * at the start of a candidate, or 0.
 */
export function matchesAmong(
  text: string,
  candidates: RegExp,
  category: string,
  lengthOf: (candidate: string) => number,
): Match[] {
  const found: Match[] = [];
  const pattern = new RegExp(candidates);
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const length = lengthOf(match[0]);
    if (length > 0) found.push({ start: match.index, end: match.index + length, category });
    pattern.lastIndex = match.index + (length || 1);
  }
  return found;
}
