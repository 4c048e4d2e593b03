import { newId } from './ids.js';
import { type KeyValue, KeyValueUnavailable } from './key-value.js';

export type LeaseOptions = Readonly<{
  /** How long the lease outlives the last renewal, hence its holder. */
  ttlMs: number;
  /** How often it is renewed: a third of `ttlMs` leaves room for two failures. */
  renewMs: number;
  /** Who holds it, for others to read. */
  holder: string;
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
  const value = JSON.stringify({ holder: options.holder, claim: newId() } satisfies Claim);
  const asked = performance.now();
  if (!(await keyValue.create(key, value, { ttlMs: options.ttlMs }))) return undefined;
  return keepLease(keyValue, key, value, asked + options.ttlMs, options);
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

/** Who holds the key now, if anybody. @throws KeyValueUnavailable */
export async function holderOf(keyValue: KeyValue, key: string): Promise<string | undefined> {
  const entry = await keyValue.get(key);
  return entry && (JSON.parse(entry.value) as Claim).holder;
}

/** Whether somebody alive holds the key. @throws KeyValueUnavailable */
export const isHeld = async (keyValue: KeyValue, key: string): Promise<boolean> => (await keyValue.get(key)) !== undefined;

function keepLease(keyValue: KeyValue, key: string, value: string, expiresAt: number, options: LeaseOptions): Lease {
  const lost = new AbortController();
  let ended = false;
  let expiry: NodeJS.Timeout;
  let renewing: Promise<void> = Promise.resolve();

  const end = (): void => {
    ended = true;
    clearTimeout(expiry);
    clearInterval(renewal);
    options.signal?.removeEventListener('abort', onAbort);
  };
  const lose = (why: string): void => {
    if (ended) return;
    end();
    lost.abort(new Error(`The lease on ${key} was lost: ${why}.`));
  };
  const expireAt = (at: number): void => {
    clearTimeout(expiry);
    expiry = setTimeout(() => lose('it was not renewed in time'), at - performance.now()).unref();
  };
  const renew = async (): Promise<void> => {
    const asked = performance.now();
    const entry = await keyValue.get(key);
    if (ended) return;
    if (entry?.value !== value) return lose('it is not ours any more');
    if (!(await keyValue.update(key, value, entry.revision, { ttlMs: options.ttlMs }))) return lose('it was taken over');
    if (!ended) expireAt(asked + options.ttlMs);
  };
  const release = async (): Promise<void> => {
    if (ended) return;
    end();
    await renewing;
    try {
      const entry = await keyValue.get(key);
      if (entry?.value === value) await keyValue.delete(key, entry.revision);
    } catch (error) {
      // Where the store is away, the lease runs out by itself: that is what it is for.
      if (!(error instanceof KeyValueUnavailable)) throw error;
    }
  };
  const onAbort = (): void => void release();

  let busy = false;
  const renewal = setInterval(() => {
    if (busy) return;
    busy = true;
    // A renewal that failed is tried again at the next beat; `expiry` is the bound.
    renewing = renew()
      .catch(() => undefined)
      .finally(() => (busy = false));
  }, options.renewMs).unref();
  expireAt(expiresAt);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  return { key, lost: lost.signal, release };
}
