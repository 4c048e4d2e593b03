import { createHmac, hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * Makes fingerprints of what users wrote: equal for equal values, in whatever order objects name their fields. They are made with a key of the
 * service, so that a reader of the log cannot find a short text by trying. With another secret nothing equals what was stored before.
 */
export class Fingerprints {
  private readonly key: Buffer;

  /** @param secret that all processes of the service share; the key is derived from it for this use alone */
  constructor(secret: string) {
    if (secret === '') throw new Error('ENCRYPTION_SECRET_KEY is empty: without it no fingerprint can be made.');
    this.key = Buffer.from(hkdfSync('sha256', secret, '', 'fingerprints v1', KEY_BYTES));
  }

  of(...parts: readonly unknown[]): string {
    return createHmac('sha256', this.key).update(canonicalText(parts)).digest('hex');
  }
}

/** JSON that is equal for equal values: fields of objects stand in the order of their names. */
export const canonicalText = (value: unknown): string => JSON.stringify(value, inOrder);

const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
