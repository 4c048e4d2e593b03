/** A pattern did not come to an end in time. */
export class PatternTooSlow extends Error {
  override readonly name = 'PatternTooSlow';
}

/** Where patterns that users or models write are matched, without holding up other work. */
export abstract class Patterns {
  /** The texts that match, in order and at most so many. @throws PatternTooSlow, and SyntaxError for what is no pattern */
  abstract matches(pattern: string, text: string, max: number): Promise<readonly string[]>;
}
