import { LRUCache } from 'lru-cache';
import type { Timing } from '../timing.js';
import type { ExpectedRevision } from './event-store.js';

/** Maximum number of streams in the cache. */
export const RECENT_FOLDS_MAX = 512;
/** Maximum size of the cached states together, by the characters of their events, so that many large states do not fill the memory. */
export const RECENT_FOLDS_CHARACTERS_MAX = 32 * 1024 * 1024;
/** A state is cached for this time after the last append or read. Most turns are asked, answered and sealed within it. */
export const RECENT_FOLD_MS = 60_000;

type AnyFolded = Readonly<{ state: unknown; revision: ExpectedRevision; position: bigint | undefined; characters: number }>;
type Remembered = Readonly<{ aggregate: object; folded: AnyFolded }>;

/**
 * A cache of the states of streams as of this process's recent appends and reads. Other processes may have appended since. An append
 * detects that by its expected revision; a read continues from the cached state with the later events.
 */
export class RecentFolds {
  private readonly folds: LRUCache<string, Remembered>;

  constructor(timing: Timing) {
    const perf = { now: () => timing.elapsedMs() };
    // With a coarser resolution the cache would start timers.
    this.folds = new LRUCache({
      max: RECENT_FOLDS_MAX,
      maxSize: RECENT_FOLDS_CHARACTERS_MAX,
      sizeCalculation: ({ folded }) => 1 + folded.characters,
      ttl: RECENT_FOLD_MS,
      ttlResolution: 0,
      perf,
    });
  }

  of<Folded>(stream: string, aggregate: object): Folded | undefined {
    const remembered = this.folds.get(stream);
    return remembered?.aggregate === aggregate ? (remembered.folded as Folded) : undefined;
  }

  /** Caches a state, unless that of a later revision is cached: a read may end while an append is under way. */
  remember(stream: string, aggregate: object, folded: AnyFolded): void {
    const cached = this.of<AnyFolded>(stream, aggregate);
    if (cached && isLater(cached.revision, folded.revision)) return;
    this.folds.set(stream, { aggregate, folded });
  }
}

const isLater = (one: ExpectedRevision, other: ExpectedRevision): boolean => one !== 'none' && (other === 'none' || one > other);
