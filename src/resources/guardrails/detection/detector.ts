/** A match in a folded text, from `start` to before `end`. */
export type Match = Readonly<{ start: number; end: number; category: string }>;

/** Finds one kind of things in folded texts, in linear time. */
export type Detector = Readonly<{
  /**
   * How many characters at the end of a text may be the beginning of a match that `find` does not see yet. A match that begins
   * before them is seen with the right start; it may still grow.
   */
  window: number;
  /** Whether it looks at texts in which upper and lower case are the same. */
  ignoresCase: boolean;
  /** What stands in the place of a match. */
  maskOf: (category: string) => string;
  find: (text: string) => readonly Match[];
  /** Fewer matches in a text are none; by default one is enough. */
  matchesMin?: number;
  /** Where something begins that reaches the end of the text and may become a match, although it begins before the window. */
  pendingFrom?: (text: string) => number | undefined;
}>;

/** The matches of a pattern, which has to be global. */
export function matchesOf(text: string, pattern: RegExp, category: string): Match[] {
  const found: Match[] = [];
  for (const match of text.matchAll(pattern)) found.push({ start: match.index, end: match.index + match[0].length, category });
  return found;
}

/** The matches among the candidates of a pattern, which has to be global: `lengthOf` says how much of a candidate one is, or 0. */
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
