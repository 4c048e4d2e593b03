import type { Timing } from '../../kernel/timing.js';

/** The known positions of read models. Those that this process writes are exact; others are as of the last poll. */
export class Progress {
  private readonly positions = new Map<string, bigint>();
  private readonly ours = new Set<string>();
  /** The number of known changes of each read model. */
  private readonly changes = new Map<string, number>();
  private readonly watchers = new Set<() => void>();
  private readonly wanted = new Map<string, number>();
  private readonly pauses = new Map<string, () => void>();

  constructor(private readonly timing: Timing) {}

  /**
   * Reports a polled checkpoint. It is never ahead of the rows. It may be behind this process's own writes, or ahead of those that
   * were not acknowledged yet.
   */
  seen(name: string, position: bigint): void {
    if (position <= (this.positions.get(name) ?? -2n)) return;
    this.countChange(name);
    this.report(name, position);
  }

  /**
   * Reports that this process has written up to a position, or, if not `changed`, that no event up to it concerns the read model.
   */
  wrote(name: string, position: bigint, changed = true): void {
    if (changed || !this.ours.has(name)) this.countChange(name);
    this.ours.add(name);
    this.report(name, position);
  }

  /** A counter of changes to a read model that this process writes; undefined for those of other processes. */
  changesOf(name: string): number | undefined {
    return this.ours.has(name) ? this.changes.get(name) : undefined;
  }

  /** The position of a read model; undefined if it is not known. */
  positionOf(name: string): bigint | undefined {
    return this.positions.get(name);
  }

  /** Forgets all positions, because the read models were made again from a log that ends earlier. */
  forget(): void {
    this.positions.clear();
  }

  /** Another process may write the read model from now on. */
  handedOver(name: string): void {
    this.ours.delete(name);
  }

  isOurs(name: string): boolean {
    return this.ours.has(name);
  }

  hasReached(names: Iterable<string>, position: bigint): boolean {
    for (const name of names) if ((this.positions.get(name) ?? -2n) < position) return false;
    return true;
  }

  /** Calls back on every report. The returned function ends that. */
  watch(onReport: () => void): () => void {
    this.watchers.add(onReport);
    return () => this.watchers.delete(onReport);
  }

  /**
   * Registers a waiting caller, so that the writers of these read models do not wait for further events. The returned function
   * ends that.
   */
  registerWaiter(names: readonly string[]): () => void {
    const count = (name: string, more: number) => this.wanted.set(name, (this.wanted.get(name) ?? 0) + more);
    for (const name of names) {
      count(name, 1);
      this.pauses.get(name)?.();
    }
    return () => names.forEach((name) => count(name, -1));
  }

  /** The pause of a writer: resolves after `ms`, or at once when a caller waits for one of its read models. */
  batchingPause(names: readonly string[], ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || names.some((name) => (this.wanted.get(name) ?? 0) > 0)) return Promise.resolve();
    return new Promise((resolve) => {
      const over = () => {
        cancel();
        signal.removeEventListener('abort', over);
        for (const name of names) this.pauses.delete(name);
        resolve();
      };
      const cancel = this.timing.after(ms, over);
      signal.addEventListener('abort', over);
      for (const name of names) this.pauses.set(name, over);
    });
  }

  private countChange(name: string): void {
    this.changes.set(name, (this.changes.get(name) ?? 0) + 1);
  }

  private report(name: string, position: bigint): void {
    this.positions.set(name, position);
    for (const watcher of [...this.watchers]) watcher();
  }
}
