/** Maximum size of a key and of a value, and the longest time that a value is kept after its last write. */
export const KEY_BYTES_MAX = 512;
export const VALUE_BYTES_MAX = 256 * 1024;
export const KEPT_MS_MAX = 32 * 24 * 60 * 60 * 1000;

/** A stored value, and the revision that a conditional write expects. */
export type KeyValueEntry = Readonly<{ value: string; revision: number }>;

/** The key-value store did not answer. Requests that depend on it get 503. */
export class KeyValueUnavailable extends Error {
  override readonly name = 'KeyValueUnavailable';
}

/**
 * Small shared state that may be lost: leases, windows, budgets. Keys are strings, by convention dot-separated tokens. A value
 * that was written with `ttlMs` is absent after that time. @throws KeyValueUnavailable; RangeError past a limit above
 */
export abstract class KeyValue {
  abstract get(key: string): Promise<KeyValueEntry | undefined>;
  abstract put(key: string, value: string, options?: { ttlMs?: number }): Promise<void>;
  /** Writes the value if the key is absent or expired, else returns false. */
  abstract create(key: string, value: string, options?: { ttlMs?: number }): Promise<boolean>;
  /** Writes the value if the key still has this revision, else returns false. */
  abstract update(key: string, value: string, revision: number, options?: { ttlMs?: number }): Promise<boolean>;
  /** Deletes the key. With a revision: only if the key still has it, else returns false. */
  abstract delete(key: string, revision?: number): Promise<boolean>;
  /** The keys with this prefix that have not expired, sorted. */
  abstract keys(prefix: string): Promise<readonly string[]>;
}

/** @throws RangeError if the key is empty or too long, the value too large, or the time to live out of range. */
export function assertWithinLimits(key: string, value = '', ttlMs = 1): void {
  if (key === '' || Buffer.byteLength(key) > KEY_BYTES_MAX) throw new RangeError(`A key has 1 to ${KEY_BYTES_MAX} bytes.`);
  if (Buffer.byteLength(value) > VALUE_BYTES_MAX) throw new RangeError(`A value has at most ${VALUE_BYTES_MAX} bytes.`);
  if (!(ttlMs > 0 && ttlMs <= KEPT_MS_MAX))
    throw new RangeError(`A value is kept for more than 0 and at most ${KEPT_MS_MAX} ms.`);
}
