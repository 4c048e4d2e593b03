import { createHash } from 'node:crypto';
import type { Clock } from './clock.js';
import { type KeyValue, KeyValueUnavailable } from './key-value.js';

/** `max` may be taken at once; what was taken comes back evenly, all of it within `windowMs`. A `max` of 0 sets no limit. */
export type Rate = Readonly<{ max: number; windowMs: number }>;

/** How often a write is repeated that another process overtook; after that the caller is refused for a second. */
export const RACES_MAX = 16;
/** While the store is away nothing is counted for this long at a time: otherwise each request would wait for the store's deadline. */
export const UNCOUNTED_MS = 5_000;
/** A number of slots bounds what the store keeps, however many addresses a sender has. */
const SLOT_HEX_DIGITS = 4;
/** More than the error of adding fractions of a millisecond, less than one share of any window. */
const ROUNDING_MS = 1;

/**
 * Takes one from a budget that will be full again at `fullAt`: the time at which it will be full then, or how long there is
 * nothing to take. The clock of the process that wrote `fullAt` may be ahead; no budget takes longer than a window to fill.
 */
function takeOne(fullAt: number, now: number, { max, windowMs }: Rate): Readonly<{ fullAt: number } | { waitMs: number }> {
  const latest = now + windowMs;
  const next = Math.min(Math.max(fullAt, now), latest) + windowMs / max;
  return next > latest + ROUNDING_MS ? { waitMs: next - latest } : { fullAt: next };
}

/** A budget for each subject, counted by all processes together. */
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
   * Takes one from a subject's budget. When nothing is left: after how many seconds there is something again. While the store
   * does not answer there is always something.
   */
  async take(subject: string): Promise<number | undefined> {
    if (this.rate.max === 0) return undefined;
    const key = `${this.name}.${slotOf(subject)}`;
    // The requests of one process take turns: all at once, each write would be overtaken by the others.
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
    if (this.now() < this.uncountedUntil) return undefined;
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
      const taken = takeOne(Number(entry?.value ?? 0), this.now(), this.rate);
      if ('waitMs' in taken) return Math.max(1, Math.ceil(taken.waitMs / 1000));
      const value = String(taken.fullAt);
      const written = entry ? this.keyValue.update(key, value, entry.revision, ttl) : this.keyValue.create(key, value, ttl);
      if (await written) return undefined;
    }
    return 1;
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

/** Subjects that share a slot share a budget. */
const slotOf = (subject: string): string => createHash('sha256').update(subject).digest('hex').slice(0, SLOT_HEX_DIGITS);
