import type { Ids } from '../ids.js';
import { type KeyValue, KeyValueUnavailable } from './key-value.js';
import type { Timing } from '../timing.js';

export type LeaseOptions = Readonly<{
  /** The lease expires this long after its last renewal. */
  ttlMs: number;
  /** The name of the holder. Other processes can read it. */
  holder: string;
  timing: Timing;
  ids: Ids;
  /** Releases the lease when it aborts. */
  signal?: AbortSignal;
}>;

/** An exclusive claim on a key. It lasts while its holder renews it. */
export type Lease = Readonly<{
  key: string;
  /** Aborts if another holder took the key over, or if the lease was not renewed in time. */
  lost: AbortSignal;
  /** Gives the lease up. Does nothing if the lease is already lost. While the store is away the lease expires instead. */
  release: () => Promise<void>;
}>;

/** Number of renewals in the duration of a lease. */
const RENEWALS = 3;

type Claim = Readonly<{ holder: string; claim: string }>;

/** Claims a key that is free or expired; undefined while another holder has it. @throws KeyValueUnavailable */
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

/** Whether the key has a holder whose lease has not expired. @throws KeyValueUnavailable */
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
    this.cancelRenewal = options.timing.every(options.ttlMs / RENEWALS, () => this.beat());
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
      // While the store is away, the lease expires by itself.
      if (!(error instanceof KeyValueUnavailable)) throw error;
    }
  };

  private readonly onAbort = (): void => void this.release();

  private beat(): void {
    // A failed renewal is retried at the next interval, until the lease expires.
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

  /** The holder measures the expiry itself, because the store may be unavailable at that time. */
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
