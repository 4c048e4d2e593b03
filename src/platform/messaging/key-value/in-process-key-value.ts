import { assertWithinLimits, KeyValue, type KeyValueEntry } from '../../../kernel/messaging/key-value.js';

type Kept = KeyValueEntry & Readonly<{ expiresAt: number }>;
type Ttl = { ttlMs?: number };

/** The number of values at which the first sweep of expired ones runs. */
const SWEEP_FROM = 1024;

/** A key-value store in memory. Expiry uses the monotonic clock. */
export class InProcessKeyValue extends KeyValue {
  private readonly values = new Map<string, Kept>();
  private revision = 0;
  private sweepAt = SWEEP_FROM;

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
    if (this.values.size >= this.sweepAt) this.sweep();
  }

  /** Drops expired values. It runs when the size has doubled, which makes its amortised cost per write constant. */
  private sweep(): void {
    for (const key of this.values.keys()) this.living(key);
    this.sweepAt = Math.max(SWEEP_FROM, 2 * this.values.size);
  }
}
