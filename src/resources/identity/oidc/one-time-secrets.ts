import { createHash, randomBytes } from 'node:crypto';
import type { KeyValue } from '../../../kernel/messaging/key-value.js';
import { SealBroken, type Seals } from '../../../platform/credentials/seals.port.js';

const SECRET_BYTES = 32;

/**
 * Stores values that can be taken once, by a secret that a browser returns. The key of an entry is the hash of the secret, its
 * value is sealed, and all processes share the store.
 */
export class OneTimeSecrets<Value> {
  constructor(
    private readonly keyValue: KeyValue,
    private readonly seals: Seals,
    private readonly name: string,
    private readonly ttlMs: number,
  ) {}

  newSecret(): string {
    return randomBytes(SECRET_BYTES).toString('base64url');
  }

  async keep(secret: string, value: Value): Promise<void> {
    const key = this.keyOf(secret);
    const sealed = this.seals.seal(JSON.stringify(value), [key]).toString('base64');
    await this.keyValue.create(key, sealed, { ttlMs: this.ttlMs });
  }

  /** Takes the value. Undefined if another call has taken it, or if it has expired. */
  async take(secret: string): Promise<Value | undefined> {
    const key = this.keyOf(secret);
    const entry = await this.keyValue.get(key);
    if (!entry || !(await this.keyValue.delete(key, entry.revision))) return undefined;
    try {
      return JSON.parse(this.seals.open(Buffer.from(entry.value, 'base64'), [key])) as Value;
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  }

  private keyOf(secret: string): string {
    return `${this.name}.${createHash('sha256').update(secret).digest('hex')}`;
  }
}
