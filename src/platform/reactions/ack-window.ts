import { WakeFlag } from '../event-store/wake-flag.js';

/** Tracks events that complete out of order, and the position up to which all are done. */
export class AckWindow {
  /** Rings when the position moves. */
  readonly moved = new WakeFlag();
  private readonly open: { position: bigint; at: Date | null; done: boolean }[] = [];
  private passed: bigint;
  private passedAt: Date | null = null;
  private passedCount = 0;
  private addedCount = 0;

  constructor(position: bigint) {
    this.passed = position;
  }

  /** The position up to which all events are done. */
  get position(): bigint {
    return this.passed;
  }

  /** The time of the newest event up to that position; null before the first. */
  get eventAt(): Date | null {
    return this.passedAt;
  }

  /** The number of events up to that position. */
  get done(): number {
    return this.passedCount;
  }

  /** The number of events after that position, done or not. */
  get ahead(): number {
    return this.addedCount - this.passedCount;
  }

  get size(): number {
    return this.open.length;
  }

  /** Adds an event. The returned function marks it as done. */
  add(position: bigint, at: Date): () => void {
    this.addedCount++;
    return this.enter(position, at);
  }

  /** Notes that no further event up to this position will be added. */
  considered(position: bigint): void {
    const last = this.open.at(-1);
    // Merges consecutive positions without events while an event is in progress.
    if (last?.done && last.at === null) last.position = position;
    else this.enter(position, null)();
  }

  private enter(position: bigint, at: Date | null): () => void {
    const entry = { position, at, done: false };
    this.open.push(entry);
    return () => {
      entry.done = true;
      this.advance();
    };
  }

  private advance(): void {
    if (this.open[0]?.done) this.moved.ring();
    while (this.open[0]?.done) {
      const { position, at } = this.open.shift()!;
      this.passed = position;
      this.passedAt = at ?? this.passedAt;
      if (at) this.passedCount++;
    }
  }
}
