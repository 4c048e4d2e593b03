import type { Sql } from 'postgres';
import { type Projection, schemaOf } from '../../../projections/projection.js';
import { Freshness } from '../../kernel/freshness.js';
import { pause } from '../supervision/back-off.js';
import type { Progress } from './progress.js';

/** How often the checkpoints of read models that another process writes are looked at while somebody waits for them. */
const POLL_MS = 15;

/** After this long the checkpoint is looked at even if this process writes the read model: perhaps it no longer does. */
const TRUST_MS = 250;

type Waiter = { names: readonly string[]; position: bigint; since: number; done: () => void };

/** Waits on what this process projects by being told, and on what others project by looking. */
export class PostgresFreshness extends Freshness {
  private readonly waiters = new Set<Waiter>();
  private readonly schemas: ReadonlyMap<string, string>;
  private polling = false;

  constructor(
    private readonly sql: Sql,
    projections: readonly Projection[],
    private readonly progress: Progress,
    private readonly waitMsMax = 5_000,
  ) {
    super();
    this.schemas = new Map(projections.map((projection) => [projection.name, schemaOf(projection)]));
    progress.watch(() => this.settle());
  }

  async reached(names: readonly string[], position: bigint | undefined): Promise<void> {
    for (const name of names) if (!this.schemas.has(name)) throw new Error(`There is no projection ${name}.`);
    if (position === undefined || this.progress.hasReached(names, position)) return;
    await new Promise<void>((resolve) => {
      const waiter: Waiter = { names, position, since: Date.now(), done: resolve };
      const timer = setTimeout(() => waiter.done(), this.waitMsMax);
      waiter.done = () => {
        clearTimeout(timer);
        this.waiters.delete(waiter);
        resolve();
      };
      this.waiters.add(waiter);
      void this.poll();
    });
  }

  private settle(): void {
    for (const waiter of this.waiters) if (this.progress.hasReached(waiter.names, waiter.position)) waiter.done();
  }

  /** One loop for all waiters; with Postgres away it goes on looking until the waiters' time is up. */
  private async poll(): Promise<void> {
    if (this.polling) return;
    this.polling = true;
    while (this.waiters.size > 0) {
      const names = this.worthALook();
      if (names.length > 0) await this.look(names).catch(() => undefined);
      await pause(POLL_MS);
    }
    this.polling = false;
  }

  private worthALook(): readonly string[] {
    const late = Date.now() - TRUST_MS;
    const names = new Set<string>();
    for (const waiter of this.waiters) {
      for (const name of waiter.names) if (!this.progress.isOurs(name) || waiter.since < late) names.add(name);
    }
    return [...names];
  }

  private async look(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const schema = this.schemas.get(name)!;
      const [row] = await this.sql<{ position: string }[]>`select position::text from ${this.sql(schema)}.checkpoint`;
      if (row) this.progress.seen(name, BigInt(row.position));
    }
  }
}
