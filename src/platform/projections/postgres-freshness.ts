import type { Sql } from 'postgres';
import { filterOf, type Projection, schemaOf } from '../../../projections/projection.js';
import type { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import type { Timing } from '../../kernel/timing.js';
import type { Progress } from './progress.js';

/** How often the checkpoints of read models that another process writes are looked at while somebody waits for them. */
const POLL_MS = 15;

/** After this long the checkpoint is looked at even if this process writes the read model: perhaps it no longer does. */
const TRUST_MS = 250;

type Waiter = {
  names: readonly string[];
  position: bigint;
  since: number;
  askedLogAt: number;
  done: (hasReached: boolean) => void;
};

/**
 * Waits on what this process projects by being told, and on what others project by looking. Stores tell of stretches
 * without anything of a read model's only now and then; who waits for long asks the log whether it is in such a stretch.
 */
export class PostgresFreshness extends Freshness {
  private readonly waiters = new Set<Waiter>();
  private readonly projections: ReadonlyMap<string, Projection>;
  private polling = false;

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
    progress.watch(() => this.settle());
  }

  async reached(names: readonly string[], position: bigint | undefined): Promise<boolean> {
    for (const name of names) if (!this.projections.has(name)) throw new Error(`There is no projection ${name}.`);
    if (position === undefined || this.progress.hasReached(names, position)) return true;
    return new Promise((resolve) => {
      const since = this.timing.elapsedMs();
      const waiter: Waiter = { names, position, since, askedLogAt: since, done: resolve };
      const cancel = this.timing.after(this.waitMsMax, () => waiter.done(false));
      const unwant = this.progress.want(names);
      waiter.done = (hasReached) => {
        cancel();
        unwant();
        this.waiters.delete(waiter);
        resolve(hasReached);
      };
      this.waiters.add(waiter);
      void this.poll();
    });
  }

  private settle(): void {
    for (const waiter of this.waiters) if (this.progress.hasReached(waiter.names, waiter.position)) waiter.done(true);
  }

  /** One loop for all waiters; with Postgres away it goes on looking until the waiters' time is up. */
  private async poll(): Promise<void> {
    if (this.polling) return;
    this.polling = true;
    while (this.waiters.size > 0) {
      const names = this.worthALook();
      await Promise.all(names.map((name) => this.look(name).catch(() => undefined)));
      await this.askLog().catch(() => undefined);
      await this.timing.pause(POLL_MS);
    }
    this.polling = false;
  }

  private worthALook(): readonly string[] {
    const late = this.timing.elapsedMs() - TRUST_MS;
    const names = new Set<string>();
    for (const waiter of this.waiters) {
      for (const name of waiter.names) if (!this.progress.isOurs(name) || waiter.since < late) names.add(name);
    }
    return [...names];
  }

  /** A read model whose tables are not there, as while it is rebuilt, does not keep callers from the others. */
  private async look(name: string): Promise<void> {
    const schema = schemaOf(this.projections.get(name)!);
    const [row] = await this.sql<{ position: string }[]>`select position::text from ${this.sql(schema)}.checkpoint`;
    if (row) this.progress.seen(name, BigInt(row.position));
  }

  private async askLog(): Promise<void> {
    const late = this.timing.elapsedMs() - TRUST_MS;
    for (const waiter of this.waiters) {
      if (waiter.askedLogAt > late) continue;
      waiter.askedLogAt = this.timing.elapsedMs();
      for (const name of waiter.names) await this.passQuietStretch(name, waiter.position);
    }
  }

  /** Whose next event lies past the position has reached it. */
  private async passQuietStretch(name: string, position: bigint): Promise<void> {
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
