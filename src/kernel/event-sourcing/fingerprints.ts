import { createHmac, hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * Computes fingerprints of user input: equal for equal values, regardless of the order of object fields. They are keyed (HMAC),
 * so a reader of the log cannot guess short texts. After a change of the secret, no fingerprint matches a stored one.
 */
export class Fingerprints {
  private readonly key: Buffer;

  /** @param secret the secret that all processes share; the HMAC key is derived from it for this purpose only */
  constructor(secret: string) {
    if (secret === '') throw new Error('ENCRYPTION_SECRET_KEY is empty: without it no fingerprint can be made.');
    this.key = Buffer.from(hkdfSync('sha256', secret, '', 'fingerprints v1', KEY_BYTES));
  }

  of(...parts: readonly unknown[]): string {
    return createHmac('sha256', this.key).update(canonicalText(parts)).digest('hex');
  }
}

/** Canonical JSON: the fields of objects are sorted by name, so equal values give equal text. */
export const canonicalText = (value: unknown): string => JSON.stringify(value, inOrder);

const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
