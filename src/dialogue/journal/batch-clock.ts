import type { Timing } from '../../kernel/timing.js';

/**
 * One timer for the journals of a process whose next batch waits: all that wait are written at the same moment, and so share a
 * commit. A journal that begins to wait may be written earlier than it would be alone, and never later than the timer it finds.
 */
export class BatchClock {
  private readonly waiting = new Set<() => void>();
  private isRunning = false;

  constructor(private readonly timing: Timing) {}

  elapsedMs(): number {
    return this.timing.elapsedMs();
  }

  /** Calls back once, with all others that wait by then, after this time or earlier, unless the returned function is called before. */
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
