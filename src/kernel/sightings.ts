import type { Timing } from './timing.js';

/**
 * For how long things that wait have been seen. This is elapsed time, because the clock of the store that dates them may differ
 * from the clock of this process, and either may be set. A process that starts counts anew. Only the things of the last look are
 * remembered, so the page that the caller reads bounds the memory.
 */
export class Sightings {
  private since = new Map<string, number>();

  constructor(private readonly timing: Timing) {}

  /** Takes the things that wait now, and forgets all others. Returns those that the last look did not show. */
  look(keys: readonly string[]): ReadonlySet<string> {
    const now = this.timing.elapsedMs();
    const before = this.since;
    this.since = new Map(keys.map((key) => [key, before.get(key) ?? now]));
    return new Set(keys.filter((key) => !before.has(key)));
  }

  /** How long ago the first look was since which every look has shown this thing. */
  ageMs(key: string): number {
    const now = this.timing.elapsedMs();
    return now - (this.since.get(key) ?? now);
  }

  /** Counts the age of a thing from now on. */
  restart(key: string): void {
    if (this.since.has(key)) this.since.set(key, this.timing.elapsedMs());
  }
}
