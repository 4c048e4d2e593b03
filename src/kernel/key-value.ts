/** A stored value with the revision that a later conditional write names. */
export type KeyValueEntry = Readonly<{ value: string; revision: number }>;

/** The key-value store did not answer: what depends on it is refused (503), not guessed. */
export class KeyValueUnavailable extends Error {
  override readonly name = 'KeyValueUnavailable';
}

/**
 * Small shared state that may be forgotten: leases, windows, budgets. Keys are dot-separated tokens (letters, digits,
 * `-`, `_`). A value written with `ttlMs` reads as absent once that time has passed. @throws KeyValueUnavailable
 */
export abstract class KeyValue {
  abstract get(key: string): Promise<KeyValueEntry | undefined>;
  abstract put(key: string, value: string, options?: { ttlMs?: number }): Promise<void>;
  /** Writes only where nothing (living) is; false when something is. */
  abstract create(key: string, value: string, options?: { ttlMs?: number }): Promise<boolean>;
  /** Writes only over the revision that was read; false when it has moved on. */
  abstract update(key: string, value: string, revision: number, options?: { ttlMs?: number }): Promise<boolean>;
  abstract delete(key: string): Promise<void>;
  /** The living keys that start with a prefix, in order. */
  abstract keys(prefix: string): Promise<readonly string[]>;
}
