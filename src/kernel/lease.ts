import type { Ids } from './ids.js';
import { type KeyValue, KeyValueUnavailable } from './key-value.js';
import type { Timing } from './timing.js';

export type LeaseOptions = Readonly<{
  /** How long the lease outlives the last renewal, hence its holder. */
  ttlMs: number;
  /** How often it is renewed: a third of `ttlMs` leaves room for two failures. */
  renewMs: number;
  /** Who holds it, for others to read. */
  holder: string;
  timing: Timing;
  ids: Ids;
  /** Aborting it releases the lease. */
  signal?: AbortSignal;
}>;

/** A claim on a key that lasts as long as its holder keeps renewing it. */
export type Lease = Readonly<{
  key: string;
  /** Aborts when the claim ends before it was released: taken over, or not renewed in time. */
  lost: AbortSignal;
  /** Gives the claim up; without effect when it is not held any more, or (until it runs out) while the store is away. */
  release: () => Promise<void>;
}>;

type Claim = Readonly<{ holder: string; claim: string }>;

/** Claims a key, also one whose holder let it expire; undefined while somebody holds it. @throws KeyValueUnavailable */
export async function holdLease(keyValue: KeyValue, key: string, options: LeaseOptions): Promise<Lease | undefined> {
  const value = JSON.stringify({ holder: options.holder, claim: options.ids.next() } satisfies Claim);
  const asked = options.timing.elapsedMs();
  if (!(await keyValue.create(key, value, { ttlMs: options.ttlMs }))) return undefined;
  return new HeldLease(keyValue, key, value, asked + options.ttlMs, options);
}

/** Claims one of the keys `<prefix>.0` … `<prefix>.<slots - 1>`; undefined while all are held. @throws KeyValueUnavailable */
export async function holdSlot(
  keyValue: KeyValue,
  prefix: string,
  slots: number,
  options: LeaseOptions,
): Promise<Lease | undefined> {
  const taken = new Set(await keyValue.keys(`${prefix}.`));
  for (let slot = 0; slot < slots; slot++) {
    const key = `${prefix}.${slot}`;
    const lease = taken.has(key) ? undefined : await holdLease(keyValue, key, options);
    if (lease) return lease;
  }
  return undefined;
}

/** Whether somebody alive holds the key. @throws KeyValueUnavailable */
export const isHeld = async (keyValue: KeyValue, key: string): Promise<boolean> => (await keyValue.get(key)) !== undefined;

class HeldLease implements Lease {
  private readonly loss = new AbortController();
  private readonly cancelRenewal: () => void;
  private cancelExpiry: (() => void) | undefined;
  private renewing: Promise<void> | undefined;
  private ended = false;

  constructor(
    private readonly keyValue: KeyValue,
    readonly key: string,
    private readonly value: string,
    expiresAt: number,
    private readonly options: LeaseOptions,
  ) {
    this.expireAt(expiresAt);
    this.cancelRenewal = options.timing.every(options.renewMs, () => this.beat());
    options.signal?.addEventListener('abort', this.onAbort, { once: true });
    if (options.signal?.aborted) void this.release();
  }

  get lost(): AbortSignal {
    return this.loss.signal;
  }

  readonly release = async (): Promise<void> => {
    if (this.ended) return;
    this.end();
    await this.renewing;
    try {
      const entry = await this.keyValue.get(this.key);
      if (entry?.value === this.value) await this.keyValue.delete(this.key, entry.revision);
    } catch (error) {
      // Where the store is away, the lease runs out by itself: that is what it is for.
      if (!(error instanceof KeyValueUnavailable)) throw error;
    }
  };

  private readonly onAbort = (): void => void this.release();

  private beat(): void {
    // A renewal that failed is tried again at the next beat; the expiry is the bound.
    this.renewing ??= this.renew()
      .catch(() => undefined)
      .finally(() => (this.renewing = undefined));
  }

  private async renew(): Promise<void> {
    const { key, value, keyValue, options } = this;
    const asked = options.timing.elapsedMs();
    const entry = await keyValue.get(key);
    if (this.ended) return;
    if (entry?.value !== value) return this.lose('it is not ours any more');
    if (!(await keyValue.update(key, value, entry.revision, { ttlMs: options.ttlMs }))) return this.lose('it was taken over');
    if (!this.ended) this.expireAt(asked + options.ttlMs);
  }

  /** The holder learns of the end from its own clock: the store may be what is away. */
  private expireAt(at: number): void {
    const { timing } = this.options;
    const expire = () => this.lose('it was not renewed in time');
    this.cancelExpiry?.();
    this.cancelExpiry = timing.after(at - timing.elapsedMs(), expire, { unref: true });
  }

  private lose(why: string): void {
    if (this.ended) return;
    this.end();
    this.loss.abort(new Error(`The lease on ${this.key} was lost: ${why}.`));
  }

  private end(): void {
    this.ended = true;
    this.cancelExpiry?.();
    this.cancelRenewal();
    this.options.signal?.removeEventListener('abort', this.onAbort);
  }
}
