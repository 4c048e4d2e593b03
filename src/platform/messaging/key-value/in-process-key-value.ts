import { assertWithinLimits, KeyValue, type KeyValueEntry } from '../../../kernel/key-value.js';

type Kept = KeyValueEntry & Readonly<{ expiresAt: number }>;
type Ttl = { ttlMs?: number };

/** The size from which expired values are looked for and dropped. */
const SWEEP_FROM = 1024;

/** Key-value within one process, gone with it. Times pass by a clock that is never set. */
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

  /** How many values are held in memory, expired ones that were not dropped yet included. */
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

  /** Waiting for the size to double makes the cost of a sweep constant per write. */
  private sweep(): void {
    for (const key of this.values.keys()) this.living(key);
    this.sweepAt = Math.max(SWEEP_FROM, 2 * this.values.size);
  }
}
