import type { Sql } from 'postgres';
import { filterOf, type Projection, schemaOf } from '../../../projections/projection.js';
import type { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import type { Timing } from '../../kernel/timing.js';
import type { Progress } from './progress.js';

/** How often the checkpoints of read models that another process writes are polled while a caller waits. */
const POLL_MS = 15;

/** After this time, the checkpoint is polled even if this process writes the read model, because it may have lost that role. */
const TRUST_MS = 250;

type Waiter = {
  names: readonly string[];
  position: bigint;
  since: number;
  askedLogAt: number;
  done: (hasReached: boolean) => void;
};

/**
 * Waits for read models. This process's own projections report their progress; those of other processes are polled. A checkpoint
 * moves only occasionally while the log has no events for its read model, so a long wait checks the log for such a gap.
 */
export class PostgresFreshness extends Freshness {
  private readonly waiters = new Set<Waiter>();
  private readonly projections: ReadonlyMap<string, Projection>;
  private polling = false;
  /** Scans the log beside the polling, because that may take long. */
  private askingLog: Promise<void> | undefined;

  constructor(
    private readonly sql: Sql,
    projections: readonly Projection[],
    private readonly progress: Progress,
    private readonly store: Pick<EventStore, 'readAll'>,
    private readonly timing: Timing,
    private readonly waitMsMax = 5_000,
  ) {
    super();
    this.projections = new Map(projections.map((projection) => [projection.name, projection]));
    progress.watch(() => this.wakeWaiters());
  }

  async reached(names: readonly string[], position: bigint | undefined): Promise<boolean> {
    for (const name of names) if (!this.projections.has(name)) throw new Error(`There is no projection ${name}.`);
    if (position === undefined || this.progress.hasReached(names, position)) return true;
    return new Promise((resolve) => {
      const since = this.timing.elapsedMs();
      const waiter: Waiter = { names, position, since, askedLogAt: since, done: resolve };
      const cancel = this.timing.after(this.waitMsMax, () => waiter.done(false));
      const unregister = this.progress.registerWaiter(names);
      waiter.done = (hasReached) => {
        cancel();
        unregister();
        this.waiters.delete(waiter);
        resolve(hasReached);
      };
      this.waiters.add(waiter);
      void this.poll();
    });
  }

  private wakeWaiters(): void {
    for (const waiter of this.waiters) if (this.progress.hasReached(waiter.names, waiter.position)) waiter.done(true);
  }

  /** The polling loop of all waiters. During an outage of Postgres it continues until their timeouts. */
  private async poll(): Promise<void> {
    if (this.polling) return;
    this.polling = true;
    while (this.waiters.size > 0) {
      const names = this.namesToPoll();
      await Promise.all(names.map((name) => this.readCheckpoint(name).catch(() => undefined)));
      this.askingLog ??= this.askLog()
        .catch(() => undefined)
        .finally(() => (this.askingLog = undefined));
      await this.timing.pause(POLL_MS);
    }
    this.polling = false;
  }

  private namesToPoll(): readonly string[] {
    const late = this.timing.elapsedMs() - TRUST_MS;
    const names = new Set<string>();
    for (const waiter of this.waiters) {
      for (const name of waiter.names) if (!this.progress.isOurs(name) || waiter.since < late) names.add(name);
    }
    return [...names];
  }

  /** Reads a checkpoint. Missing tables of one read model, as before its first rebuild, do not affect the others. */
  private async readCheckpoint(name: string): Promise<void> {
    const schema = schemaOf(this.projections.get(name)!);
    const [row] = await this.sql<{ position: string }[]>`select position::text from ${this.sql(schema)}.checkpoint`;
    if (row) this.progress.seen(name, BigInt(row.position));
  }

  private async askLog(): Promise<void> {
    const late = this.timing.elapsedMs() - TRUST_MS;
    for (const waiter of this.waiters) {
      if (waiter.askedLogAt > late) continue;
      waiter.askedLogAt = this.timing.elapsedMs();
      for (const name of waiter.names) await this.skipGap(name, waiter.position);
    }
  }

  /** Counts a read model as having reached the position if its next event is past it. */
  private async skipGap(name: string, position: bigint): Promise<void> {
    const after = this.progress.positionOf(name);
    if (after === undefined || after >= position) return;
    const filter = filterOf(this.projections.get(name)!);
    for await (const { events, position: considered } of this.store.readAll({ after, filter, limit: 1 })) {
      const isQuiet = events.length > 0 ? events[0]!.position > position : considered >= position;
      if (isQuiet) this.progress.seen(name, position);
      if (isQuiet || events.length > 0) return;
    }
  }
}
