import { LRUCache } from 'lru-cache';

/** The callers whose last write is remembered, at most; the one who wrote longest ago is forgotten first. */
const CALLERS_MAX = 10_000;

/** How far each caller's last write through this process reached, so that what it reads next can wait for it. */
export class LastWrites {
  // With `max`, room for all of them would be made at once.
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
