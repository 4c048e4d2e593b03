import type { Sql, TransactionSql } from 'postgres';
import type { Change } from '../../../projections/projection.js';
import { type decode } from '../../kernel/event-sourcing/codec.js';
import type { LogPage, StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { isOutage } from '../supervision/outage.js';
import { changesOf, concerns } from './changes.js';
import type { Definition } from './definition.js';
import { type ChangeBatch, sendOneByOne } from './change-batch.js';
import { faultOf, HELD_EVENTS_MAX, type Parking, parkingSteps, TooManyHeld, tryEvent } from './parking.js';
import { type Checkpoint, enter, keepPlacesOfHeld, readHeld, takeOver } from './schema.js';
import { type CheckpointMove, FencedOut, moveCheckpoints, type Portion, writeTogether } from './shared-transaction.js';

/** The parked entities, with the reasons of those that this writer has parked. */
type ParkedEntities = ReadonlyMap<string, Parking | undefined>;

/** The writer's knowledge of its schema. */
type WriterState = {
  position: bigint;
  /** The position up to which the log was scanned. After the checkpoint it may have no events for this projection. */
  considered: bigint;
  epoch: bigint;
  eventAt: Date | null;
  parked: ParkedEntities;
  held: number;
};

/**
 * Writes one projection into one schema, live or shadow. Rows and checkpoint change in one transaction, only for the newest
 * writer and only from the checkpoint that this writer expects. A page that was already applied changes nothing.
 */
export class ProjectionWriter {
  private constructor(
    private readonly sql: Sql,
    readonly definition: Definition,
    readonly schema: string,
    private readonly state: WriterState,
    private readonly onParked: (parking: Parking) => void,
  ) {}

  /** Takes the schema over from its current writer. @throws DefinitionChanged */
  static async open(
    sql: Sql,
    definition: Definition,
    schema = definition.schema,
    onParked: (parking: Parking) => void = () => undefined,
  ): Promise<ProjectionWriter> {
    const { position, epoch, eventAt }: Checkpoint = await takeOver(sql, definition, schema);
    await keepPlacesOfHeld(sql, schema);
    const { parked, held } = await readHeld(sql, schema);
    const entities = new Map(parked.map((entity) => [entity, undefined]));
    const state = { position, considered: position, epoch, eventAt, parked: entities, held };
    return new ProjectionWriter(sql, definition, schema, state, onParked);
  }

  get name(): string {
    return this.definition.projection.name;
  }

  get position(): bigint {
    return this.state.position;
  }

  get considered(): bigint {
    return this.state.considered;
  }

  /** Notes that no event up to the position concerns this projection. The checkpoint moves with the next write. */
  pass(position: bigint): void {
    if (position > this.state.considered) this.state.considered = position;
  }

  get eventAt(): Date | null {
    return this.state.eventAt;
  }

  /** Applies a page. On an error nothing has changed. @throws FencedOut, TooManyHeld, errors of Postgres */
  async write(page: Pick<LogPage, 'events' | 'position'>): Promise<void> {
    if (page.position <= this.state.position) return;
    const events = this.ownOf(page);
    try {
      await writeTogether(this.sql, [this.portion(page.position, events)]);
    } catch (error) {
      if (isOutage(error) || error instanceof FencedOut || error instanceof TooManyHeld) throw error;
      await this.oneByOne(page.position, events);
    }
  }

  /** The events of a page that concern this projection and are not applied yet. */
  ownOf({ events }: Pick<LogPage, 'events'>): readonly StoredEvent[] {
    const { position } = this.state;
    return events.filter((event) => event.position > position && concerns(this.definition, event));
  }

  /** This projection's part of a shared transaction: it applies these events and moves the checkpoint to the position. */
  portion(to: bigint, events: readonly StoredEvent[]): Portion {
    const parked = new Map(this.state.parked);
    let newlyHeld = 0;
    return {
      move: this.moveTo(to, events),
      gather: (batch, tx, decodes) => {
        newlyHeld = this.gather(batch, tx, events, parked, decodes);
        this.refuseTooMany(newlyHeld);
      },
      committed: () => this.moved(to, events, parked, newlyHeld),
    };
  }

  /** Keeps other writers out of the schema until the transaction ends. @throws FencedOut if one has already taken it over */
  async keepOthersOut(tx: TransactionSql): Promise<void> {
    await moveCheckpoints(tx, [this.moveTo(this.state.position, [])]);
  }

  private moveTo(to: bigint, events: readonly StoredEvent[]): CheckpointMove {
    const { position, epoch, eventAt } = this.state;
    return { schema: this.schema, from: position, to, epoch, eventAt: events.at(-1)?.at ?? eventAt };
  }

  private moved(to: bigint, events: readonly StoredEvent[], parked: Map<string, Parking | undefined>, newlyHeld: number): void {
    const { eventAt, held, parked: before } = this.state;
    for (const [entity, parking] of parked) if (parking && !before.has(entity)) this.onParked(parking);
    Object.assign(this.state, { position: to, eventAt: events.at(-1)?.at ?? eventAt, parked, held: held + newlyHeld });
    this.pass(to);
  }

  private refuseTooMany(newlyHeld: number): void {
    if (newlyHeld > 0 && this.state.held + newlyHeld > HELD_EVENTS_MAX) throw new TooManyHeld(this.schema);
  }

  /**
   * Adds the changes of all events and returns how many events were parked or held: undecodable ones, and those of parked
   * entities.
   */
  private gather(
    batch: ChangeBatch,
    tx: TransactionSql,
    events: readonly StoredEvent[],
    parked: Map<string, Parking | undefined>,
    decodes: typeof decode,
  ): number {
    const apply = (event: StoredEvent): unknown => {
      let changes: readonly Change[];
      try {
        changes = changesOf(this.definition, event, tx, decodes);
      } catch (error) {
        return faultOf(error);
      }
      for (const change of changes) batch.add(change);
      return undefined;
    };
    const steps = parkingSteps(tx, this.definition, events, parked);
    let step = steps.next();
    while (!step.done) {
      if ('apply' in step.value) step = steps.next(apply(step.value.apply));
      else {
        batch.add(step.value.change);
        step = steps.next();
      }
    }
    return step.value;
  }

  /** Applies the events one by one and parks only those that the tables refuse. */
  private async oneByOne(to: bigint, events: readonly StoredEvent[]): Promise<void> {
    const parked = new Map(this.state.parked);
    const held = await this.sql.begin(async (tx) => {
      await Promise.all([enter(tx, this.schema), moveCheckpoints(tx, [this.moveTo(to, events)])]);
      const steps = parkingSteps(tx, this.definition, events, parked);
      let step = steps.next();
      while (!step.done) {
        if ('apply' in step.value) step = steps.next(await tryEvent(tx, this.definition, step.value.apply));
        else {
          await sendOneByOne(tx, [step.value.change]);
          step = steps.next();
        }
      }
      this.refuseTooMany(step.value);
      return step.value;
    });
    this.moved(to, events, parked, held);
  }
}
