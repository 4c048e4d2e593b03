import { createHash } from 'node:crypto';
import type { Clock } from '../clock.js';
import { type KeyValue, KeyValueUnavailable } from './key-value.js';

/** A token bucket: `max` tokens, refilled evenly within `windowMs`. A `max` of 0 means no limit. */
export type Rate = Readonly<{ max: number; windowMs: number }>;

/** How often a write that lost to another process is retried. After that the caller is refused for a second. */
export const RACES_MAX = 16;
/** After a failure of the store, nothing is counted for this long. Otherwise each request would wait for the store's deadline. */
export const UNCOUNTED_MS = 5_000;
/** Subjects are hashed to a fixed number of slots, so that a sender with many addresses cannot fill the store. */
const SLOT_HEX_DIGITS = 4;
/** Tolerance in milliseconds: larger than the rounding error of adding fractions, smaller than the refill time of one token. */
const ROUNDING_MS = 1;

/**
 * A bucket in the store: how long it takes until it is full, as of a time. The clocks of the processes may differ, so the time
 * is that of the clock that is furthest ahead, and for the others the bucket is not refilled in the meantime.
 */
type Bucket = Readonly<{ missingMs: number; at: number }>;

/** Takes a token. Returns the bucket without it, or the milliseconds until a token is available. */
function takeOne(bucket: Bucket, now: number, { max, windowMs }: Rate): Readonly<{ taken: Bucket } | { waitMs: number }> {
  const at = Math.max(bucket.at, now);
  const missingMs = Math.max(0, bucket.missingMs - (at - bucket.at)) + windowMs / max;
  return missingMs > windowMs + ROUNDING_MS ? { waitMs: missingMs - windowMs } : { taken: { missingMs, at } };
}

/** A value that an earlier version wrote is a single number. It counts as a full bucket. */
const bucketIn = (value = ''): Bucket => {
  const [missingMs, at] = value.split(' ').map(Number);
  return missingMs === undefined || at === undefined ? { missingMs: 0, at: 0 } : { missingMs, at };
};

/** A token bucket for each subject, shared by all processes. */
export class RateLimit {
  private readonly taking = new Map<string, Promise<unknown>>();
  private uncountedUntil = -Infinity;

  constructor(
    private readonly keyValue: KeyValue,
    private readonly clock: Clock,
    private readonly name: string,
    private readonly rate: Rate,
  ) {}

  /**
   * Takes a token of the subject. Returns undefined, or the seconds until a token is available. While the store does not answer,
   * every subject has tokens.
   */
  async take(subject: string): Promise<number | undefined> {
    if (this.rate.max === 0) return undefined;
    const key = `${this.name}.${slotOf(subject)}`;
    // Requests of one process run one after another, because concurrent writes would lose to each other.
    const before = this.taking.get(key);
    const taken = before ? before.then(() => this.takeUnlessAway(key)) : this.takeUnlessAway(key);
    const turn = taken.catch(() => undefined);
    this.taking.set(key, turn);
    void turn.then(() => {
      if (this.taking.get(key) === turn) this.taking.delete(key);
    });
    return taken;
  }

  private async takeUnlessAway(key: string): Promise<number | undefined> {
    if (this.isUncounted) return undefined;
    try {
      return await this.takeFrom(key);
    } catch (error) {
      if (!(error instanceof KeyValueUnavailable)) throw error;
      this.uncountedUntil = this.now() + UNCOUNTED_MS;
      return undefined;
    }
  }

  private async takeFrom(key: string): Promise<number | undefined> {
    const ttl = { ttlMs: this.rate.windowMs };
    for (let race = 0; race < RACES_MAX; race++) {
      const entry = await this.keyValue.get(key);
      const outcome = takeOne(bucketIn(entry?.value), this.now(), this.rate);
      if ('waitMs' in outcome) return Math.max(1, Math.ceil(outcome.waitMs / 1000));
      const value = `${outcome.taken.missingMs} ${outcome.taken.at}`;
      const written = entry ? this.keyValue.update(key, value, entry.revision, ttl) : this.keyValue.create(key, value, ttl);
      if (await written) return undefined;
    }
    return 1;
  }

  /** The end is at most UNCOUNTED_MS ahead. If it is further ahead, the clock was set back. */
  private get isUncounted(): boolean {
    const leftMs = this.uncountedUntil - this.now();
    return leftMs > 0 && leftMs <= UNCOUNTED_MS;
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

/** Subjects with the same slot share a bucket. */
const slotOf = (subject: string): string => createHash('sha256').update(subject).digest('hex').slice(0, SLOT_HEX_DIGITS);
