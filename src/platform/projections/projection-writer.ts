import type { Sql, TransactionSql } from 'postgres';
import type { Change } from '../../../projections/projection.js';
import type { LogPage, StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { isOutage } from '../supervision/outage.js';
import { changesOf, concerns, entityOf } from './changes.js';
import type { Definition } from './definition.js';
import { ChangeBatch, sendOneByOne } from './change-batch.js';
import { HELD_EVENTS_MAX, hold, park, TooManyHeld, tryEvent } from './parking.js';
import { type Checkpoint, enter, takeOver } from './schema.js';

/** Somebody else has begun to write to the schema, or has replaced it: what is known of it no longer holds. */
export class FencedOut extends Error {
  override readonly name = 'Relieved';
  constructor(schema: string) {
    super(`Another writer has taken over ${schema}.`);
  }
}

/** What a writer knows of its schema without asking. */
type WriterState = { position: bigint; epoch: bigint; eventAt: Date | null; parked: Set<string>; held: number };

/**
 * Writes one projection into one schema, live or shadow. Rows and checkpoint move together, only for the newest writer,
 * and only from where this writer believes the checkpoint to be: a page seen before changes nothing.
 */
export class ProjectionWriter {
  private constructor(
    private readonly sql: Sql,
    readonly definition: Definition,
    readonly schema: string,
    private readonly state: WriterState,
  ) {}

  /** Takes the schema over from its present writer. */
  static async open(sql: Sql, definition: Definition, schema = definition.schema): Promise<ProjectionWriter> {
    const { position, epoch, eventAt }: Checkpoint = await takeOver(sql, schema);
    const parked = await sql<{ entity: string }[]>`select entity from ${sql(schema)}.parked`;
    const [count] = await sql<{ held: number }[]>`select count(*)::integer as held from ${sql(schema)}.held`;
    const state = { position, epoch, eventAt, parked: new Set(parked.map(({ entity }) => entity)), held: count?.held ?? 0 };
    return new ProjectionWriter(sql, definition, schema, state);
  }

  get position(): bigint {
    return this.state.position;
  }

  get eventAt(): Date | null {
    return this.state.eventAt;
  }

  /** @throws FencedOut, TooManyHeld, or what is wrong with Postgres; then nothing has changed */
  async write(page: Pick<LogPage, 'events' | 'position'>): Promise<void> {
    const { position } = this.state;
    if (page.position <= position) return;
    const events = page.events.filter((event) => event.position > position && concerns(this.definition, event));
    try {
      await this.transaction(page.position, events, (tx, parked) => this.inBulk(tx, events, parked));
    } catch (error) {
      if (isOutage(error) || error instanceof FencedOut || error instanceof TooManyHeld) throw error;
      await this.transaction(page.position, events, (tx, parked) => this.oneByOne(tx, events, parked));
    }
  }

  /** The frame of every page: the fence and the checkpoint first, then what the events change. */
  private async transaction(
    to: bigint,
    events: readonly StoredEvent[],
    run: (tx: TransactionSql, parked: Set<string>) => Promise<number>,
  ): Promise<void> {
    const { position, epoch, parked, held } = this.state;
    const eventAt = events.at(-1)?.at ?? this.state.eventAt;
    const parkedAfter = new Set(parked);
    const newlyHeld = await this.sql.begin(async (tx) => {
      const [, moved] = await Promise.all([
        enter(tx, this.schema),
        tx`update ${tx(this.schema)}.checkpoint set position = ${String(to)}, event_at = ${eventAt}
          where epoch = ${String(epoch)} and position = ${String(position)}`,
      ]);
      if (moved.count !== 1) throw new FencedOut(this.schema);
      const count = await run(tx, parkedAfter);
      if (count > 0 && held + count > HELD_EVENTS_MAX) throw new TooManyHeld(this.schema);
      return count;
    });
    Object.assign(this.state, { position: to, eventAt, parked: parkedAfter, held: held + newlyHeld });
  }

  /** All at once. An event that cannot even be read, or whose entity is parked already, is set aside on the way. */
  private async inBulk(tx: TransactionSql, events: readonly StoredEvent[], parked: Set<string>): Promise<number> {
    const batch = new ChangeBatch(tx);
    let held = 0;
    for (const event of events) {
      const entity = entityOf(this.definition, event);
      if (!parked.has(entity)) {
        const changes = this.changesOrFault(event, tx);
        if ('fault' in changes) {
          batch.add(park(entity, event, changes.fault));
          parked.add(entity);
        } else {
          for (const change of changes) batch.add(change);
          continue;
        }
      }
      batch.add(hold(entity, event));
      held++;
    }
    await batch.sent();
    return held;
  }

  private changesOrFault(event: StoredEvent, tx: TransactionSql): readonly Change[] | { fault: unknown } {
    try {
      return changesOf(this.definition, event, tx);
    } catch (fault) {
      return { fault };
    }
  }

  /** Finds out which events the tables refuse, and sets aside those alone. */
  private async oneByOne(tx: TransactionSql, events: readonly StoredEvent[], parked: Set<string>): Promise<number> {
    let held = 0;
    for (const event of events) {
      const entity = entityOf(this.definition, event);
      if (!parked.has(entity)) {
        const fault = await tryEvent(tx, this.definition, event);
        if (fault === undefined) continue;
        await sendOneByOne(tx, [park(entity, event, fault)]);
        parked.add(entity);
      }
      await sendOneByOne(tx, [hold(entity, event)]);
      held++;
    }
    return held;
  }
}
