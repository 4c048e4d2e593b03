import { LRUCache } from 'lru-cache';

/** Maximum number of callers in the cache. The least recent writer is evicted first. */
const CALLERS_MAX = 10_000;

/** The position of each caller's last write through this process. The caller's next read waits for it. */
export class LastWrites {
  // With `max`, the cache would allocate its full size at once.
  private readonly positions = new LRUCache<string, bigint>({ maxSize: CALLERS_MAX, sizeCalculation: () => 1 });

  note(callerId: string, position: bigint | undefined): void {
    if (position === undefined) return;
    const before = this.of(callerId);
    this.positions.set(callerId, before !== undefined && before > position ? before : position);
  }

  of(callerId: string): bigint | undefined {
    return this.positions.peek(callerId);
  }
}
