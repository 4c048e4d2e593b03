import { assertWithinLimits, KeyValue, type KeyValueEntry } from '../../../kernel/messaging/key-value.js';

type Kept = KeyValueEntry & Readonly<{ expiresAt: number }>;
type Ttl = { ttlMs?: number };

/** The least number of characters that are written between two sweeps of expired values. */
const SWEEP_CHARACTERS_MIN = 1024 * 1024;
/** What an entry counts beside the characters of its value. */
const ENTRY_CHARACTERS = 1024;

const sizeOf = (value: string): number => ENTRY_CHARACTERS + value.length;

/** A key-value store in memory. Expiry uses the monotonic clock. */
export class InProcessKeyValue extends KeyValue {
  private readonly values = new Map<string, Kept>();
  private revision = 0;
  /** The characters that may still be written until the next sweep. */
  private sweepAfter = SWEEP_CHARACTERS_MIN;

  constructor(private readonly now: () => number = () => performance.now()) {
    super();
  }

  async get(key: string): Promise<KeyValueEntry | undefined> {
    assertWithinLimits(key);
    const kept = this.living(key);
    return kept && { value: kept.value, revision: kept.revision };
  }

  async put(key: string, value: string, { ttlMs }: Ttl = {}): Promise<void> {
    assertWithinLimits(key, value, ttlMs);
    this.write(key, value, ttlMs);
  }

  async create(key: string, value: string, { ttlMs }: Ttl = {}): Promise<boolean> {
    assertWithinLimits(key, value, ttlMs);
    if (this.living(key)) return false;
    this.write(key, value, ttlMs);
    return true;
  }

  async update(key: string, value: string, revision: number, { ttlMs }: Ttl = {}): Promise<boolean> {
    assertWithinLimits(key, value, ttlMs);
    if (this.living(key)?.revision !== revision) return false;
    this.write(key, value, ttlMs);
    return true;
  }

  async delete(key: string, revision?: number): Promise<boolean> {
    assertWithinLimits(key);
    if (revision !== undefined && this.living(key)?.revision !== revision) return false;
    this.values.delete(key);
    return true;
  }

  async keys(prefix: string): Promise<readonly string[]> {
    return [...this.values.keys()].filter((key) => key.startsWith(prefix) && this.living(key)).sort();
  }

  /** The number of values in memory, including expired ones that are not swept yet. */
  get size(): number {
    return this.values.size;
  }

  private living(key: string): Kept | undefined {
    const kept = this.values.get(key);
    if (!kept || kept.expiresAt > this.now()) return kept;
    this.values.delete(key);
    return undefined;
  }

  private write(key: string, value: string, ttlMs = Infinity): void {
    this.values.set(key, { value, revision: ++this.revision, expiresAt: this.now() + ttlMs });
    this.sweepAfter -= sizeOf(value);
    if (this.sweepAfter <= 0) this.sweep();
  }

  /** Drops expired values. It runs when as much was written as the last sweep has left, so its amortised cost per write is constant. */
  private sweep(): void {
    let left = 0;
    for (const key of this.values.keys()) {
      const kept = this.living(key);
      if (kept) left += sizeOf(kept.value);
    }
    this.sweepAfter = Math.max(SWEEP_CHARACTERS_MIN, left);
  }
}
