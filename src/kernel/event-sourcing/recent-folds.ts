import { LRUCache } from 'lru-cache';
import type { Timing } from '../timing.js';

/** Maximum number of streams in the cache. */
export const RECENT_FOLDS_MAX = 512;
/** A state is cached for this time after the last append. Most turns are asked, answered and sealed within it. */
export const RECENT_FOLD_MS = 60_000;

type Remembered = Readonly<{ aggregate: object; folded: unknown }>;

/**
 * A cache of the states of streams after this process's recent appends. Other processes may have appended since. An append detects
 * that by its expected revision; code that does not append must read the stream.
 */
export class RecentFolds {
  private readonly folds: LRUCache<string, Remembered>;

  constructor(timing: Timing) {
    const perf = { now: () => timing.elapsedMs() };
    // With a coarser resolution the cache would start timers.
    this.folds = new LRUCache({ max: RECENT_FOLDS_MAX, ttl: RECENT_FOLD_MS, ttlResolution: 0, perf });
  }

  of<Folded>(stream: string, aggregate: object): Folded | undefined {
    const remembered = this.folds.get(stream);
    return remembered?.aggregate === aggregate ? (remembered.folded as Folded) : undefined;
  }

  remember(stream: string, aggregate: object, folded: unknown): void {
    this.folds.set(stream, { aggregate, folded });
  }
}
