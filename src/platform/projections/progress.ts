import type { Timing } from '../../kernel/timing.js';

/** How far read models are known to be: those that this process writes as they go, others as far as somebody looked. */
export class Progress {
  private readonly positions = new Map<string, bigint>();
  private readonly ours = new Set<string>();
  /** How often each of ours may have changed. */
  private readonly changes = new Map<string, number>();
  private readonly watchers = new Set<() => void>();
  private readonly wanted = new Map<string, number>();
  private readonly lulls = new Map<string, () => void>();

  constructor(private readonly timing: Timing) {}

  /** What was seen in the database: never ahead of the rows, perhaps behind what this process knows of its own. */
  seen(name: string, position: bigint): void {
    if (position > (this.positions.get(name) ?? -2n)) this.report(name, position);
  }

  /** What this process has written, or, unless it `changed`, knows to hold nothing for the read model. */
  wrote(name: string, position: bigint, changed = true): void {
    if (changed || !this.ours.has(name)) this.changes.set(name, (this.changes.get(name) ?? 0) + 1);
    this.ours.add(name);
    this.report(name, position);
  }

  /** Another number after every change to a read model that this process writes; undefined of those of others. */
  changesOf(name: string): number | undefined {
    return this.ours.has(name) ? this.changes.get(name) : undefined;
  }

  /** Undefined while it is not known. */
  positionOf(name: string): bigint | undefined {
    return this.positions.get(name);
  }

  /** Another process may write it from now on. */
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

  /** Calls back on every report until the returned function is called. */
  watch(onReport: () => void): () => void {
    this.watchers.add(onReport);
    return () => this.watchers.delete(onReport);
  }

  /** Somebody waits for these until the returned function is called: their writer does not wait for more events meanwhile. */
  want(names: readonly string[]): () => void {
    const count = (name: string, more: number) => this.wanted.set(name, (this.wanted.get(name) ?? 0) + more);
    for (const name of names) {
      count(name, 1);
      this.lulls.get(name)?.();
    }
    return () => names.forEach((name) => count(name, -1));
  }

  /** For the writer of read models: resolves after so long, and at once when somebody wants one of them. */
  lull(names: readonly string[], ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || names.some((name) => (this.wanted.get(name) ?? 0) > 0)) return Promise.resolve();
    return new Promise((resolve) => {
      const over = () => {
        cancel();
        signal.removeEventListener('abort', over);
        for (const name of names) this.lulls.delete(name);
        resolve();
      };
      const cancel = this.timing.after(ms, over);
      signal.addEventListener('abort', over);
      for (const name of names) this.lulls.set(name, over);
    });
  }

  private report(name: string, position: bigint): void {
    this.positions.set(name, position);
    for (const watcher of [...this.watchers]) watcher();
  }
}
