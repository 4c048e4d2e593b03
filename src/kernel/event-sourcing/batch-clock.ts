import type { Timing } from '../timing.js';

/**
 * A shared timer for the waiting batches of a process. All are written at the same moment and share a statement. A batch may be
 * written earlier or later than with its own timer, but waits at most for the longest time of any waiting batch.
 */
export class BatchClock {
  private readonly waiting = new Set<() => void>();
  private isRunning = false;

  constructor(private readonly timing: Timing) {}

  elapsedMs(): number {
    return this.timing.elapsedMs();
  }

  /** Calls back once, together with all other waiting callers, after the time of the first of them. The returned function cancels. */
  within(ms: number, work: () => void): () => void {
    this.waiting.add(work);
    if (!this.isRunning) {
      this.isRunning = true;
      this.timing.after(ms, () => this.ring());
    }
    return () => void this.waiting.delete(work);
  }

  private ring(): void {
    this.isRunning = false;
    const due = [...this.waiting];
    this.waiting.clear();
    for (const work of due) work();
  }
}
