/** Limits of a key, of a value, and of how long a value is surely kept after its last write. */
export const KEY_BYTES_MAX = 512;
export const VALUE_BYTES_MAX = 256 * 1024;
export const KEPT_MS_MAX = 32 * 24 * 60 * 60 * 1000;

/** A stored value with the revision that a later conditional write names. */
export type KeyValueEntry = Readonly<{ value: string; revision: number }>;

/** The key-value store did not answer: what depends on it is refused (503), not guessed. */
export class KeyValueUnavailable extends Error {
  override readonly name = 'KeyValueUnavailable';
}

/**
 * Small shared state that may be forgotten: leases, windows, budgets. Keys are texts, by habit dot-separated tokens. A value
 * written with `ttlMs` reads as absent once that time has passed. @throws KeyValueUnavailable, RangeError past a limit above
 */
export abstract class KeyValue {
  abstract get(key: string): Promise<KeyValueEntry | undefined>;
  abstract put(key: string, value: string, options?: { ttlMs?: number }): Promise<void>;
  /** Writes only where nothing (living) is; false when something is. */
  abstract create(key: string, value: string, options?: { ttlMs?: number }): Promise<boolean>;
  /** Writes only over the revision that was read; false when it has moved on. */
  abstract update(key: string, value: string, revision: number, options?: { ttlMs?: number }): Promise<boolean>;
  /** With a revision: only what was read under it; false when that has moved on. */
  abstract delete(key: string, revision?: number): Promise<boolean>;
  /** The living keys that start with a prefix, in order. */
  abstract keys(prefix: string): Promise<readonly string[]>;
}

/** @throws RangeError when a key is empty or too long, or a value or its time too large. */
export function assertWithinLimits(key: string, value = '', ttlMs = 1): void {
  if (key === '' || Buffer.byteLength(key) > KEY_BYTES_MAX) throw new RangeError(`A key has 1 to ${KEY_BYTES_MAX} bytes.`);
  if (Buffer.byteLength(value) > VALUE_BYTES_MAX) throw new RangeError(`A value has at most ${VALUE_BYTES_MAX} bytes.`);
  if (!(ttlMs > 0 && ttlMs <= KEPT_MS_MAX))
    throw new RangeError(`A value is kept for more than 0 and at most ${KEPT_MS_MAX} ms.`);
}
