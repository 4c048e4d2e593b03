/** A pattern exceeded its time limit. */
export class PatternTooSlow extends Error {
  override readonly name = 'PatternTooSlow';
}

/** Matches patterns that users or models write, without blocking other work. */
export abstract class Patterns {
  /** The first `max` matches, in order. @throws PatternTooSlow, and SyntaxError for an invalid pattern */
  abstract matches(pattern: string, text: string, max: number): Promise<readonly string[]>;
}
