import { LRUCache } from 'lru-cache';
import type { Timing } from '../timing.js';

/** Streams of which the state is remembered, at most. */
export const RECENT_FOLDS_MAX = 512;
/** A turn is asked, answered and sealed within this; what has been quiet for longer is read again. */
export const RECENT_FOLD_MS = 60_000;

type Remembered = Readonly<{ aggregate: object; folded: unknown }>;

/**
 * The states of streams as this process left them a moment ago. Others may have appended since: an append that names the
 * revision finds out, and whatever rests on no append has to be read.
 */
export class RecentFolds {
  private readonly folds: LRUCache<string, Remembered>;

  constructor(timing: Timing) {
    const perf = { now: () => timing.elapsedMs() };
    // With a coarser resolution the cache would set timers of its own.
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
