/** The maximum number of failed things for which a page gets additional room. */
export const FAILED_MAX = 10_000;

/**
 * The things of a page whose last attempt failed. They are tried after all others, and among them the one first whose last attempt
 * is the oldest. A page has additional room for them, so that they do not take the room of others.
 */
export class Failures {
  /** The number of its last failed attempt, by the key of a thing. */
  private failed = new Map<string, number>();
  private attempts = 0;

  /** The size of a page with room for `most` things that have not failed. */
  pageFor(most: number): number {
    return most + Math.min(this.failed.size, FAILED_MAX);
  }

  /** Forgets the things that are not on the page. */
  retain(keys: readonly string[]): void {
    this.failed = new Map(keys.flatMap((key) => (this.failed.has(key) ? [[key, this.of(key)]] : [])));
  }

  add(key: string): void {
    this.failed.set(key, ++this.attempts);
  }

  /** Does the work on a thing, and remembers the thing if that fails. @throws the error of the work */
  async attempt(key: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.add(key);
      throw error;
    }
  }

  /** The things to try next, `most` of them. Things that have not failed stay in their order. */
  next<T>(things: readonly T[], keyOf: (thing: T) => string, most: number): readonly T[] {
    return things.toSorted((one, other) => this.of(keyOf(one)) - this.of(keyOf(other))).slice(0, most);
  }

  private of(key: string): number {
    return this.failed.get(key) ?? 0;
  }
}
