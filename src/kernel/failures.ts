/**
 * How often each thing that waits has failed. Those that failed more often are tried later, so that they do not take the room of
 * others. Only the things of the last look are remembered, so the page that the caller reads bounds the memory.
 */
export class Failures {
  private counts = new Map<string, number>();

  /** The number of things that have failed. */
  get size(): number {
    return this.counts.size;
  }

  /** Takes the things that wait now, and forgets all others. */
  look(keys: readonly string[]): void {
    this.counts = new Map(keys.flatMap((key) => (this.counts.has(key) ? [[key, this.of(key)]] : [])));
  }

  add(key: string): void {
    this.counts.set(key, this.of(key) + 1);
  }

  /** The things that failed least often first, and otherwise in their order. */
  fewestFirst<T>(things: readonly T[], keyOf: (thing: T) => string): readonly T[] {
    return things.toSorted((one, other) => this.of(keyOf(one)) - this.of(keyOf(other)));
  }

  private of(key: string): number {
    return this.counts.get(key) ?? 0;
  }
}
