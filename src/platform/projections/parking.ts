import type { Sql, TransactionSql } from 'postgres';
import { type Change, insertInto, type RowChange } from '../../../projections/projection.js';
import { eventAt, type EventStore, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { isPurge } from '../../kernel/event-sourcing/purge-events.js';
import { describeFault } from '../supervision/described-fault.js';
import { isOutage } from '../supervision/outage.js';
import { type Definition, DefinitionChanged } from './definition.js';
import { changesOf, entityOf } from './changes.js';
import { sendOneByOne } from './change-batch.js';
import { enter, keepPlacesOfHeld, readCheckpoint, takeOver } from './schema.js';

/** Maximum number of held events of parked entities. With more, the projection has a bug and stops instead of copying the log. */
export const HELD_EVENTS_MAX = 10_000;

export class TooManyHeld extends Error {
  override readonly name = 'TooManyHeld';
  constructor(schema: string) {
    super(`More than ${HELD_EVENTS_MAX} events are held back in ${schema}: repair the projection and rebuild it.`);
  }
}

export type Parked = Readonly<{ entity: string; position: string; error: string; since: Date; held: number }>;

/** The event with which an entity was parked, and why. */
export type Parking = Readonly<{ event: StoredEvent; fault: unknown }>;

/** A change to make, or an event to apply, which is answered with its fault or with undefined. */
type ParkingStep = Readonly<{ change: Change } | { apply: StoredEvent }>;

/**
 * The rule of parking: an event that cannot be applied parks its entity, whose events are held until one releases it. Only the
 * step that applies an event is answered. `parked` changes once the change of a step was sent. Returns the number of events that
 * were held.
 */
export function* parkingSteps(
  tx: TransactionSql,
  definition: Definition,
  events: readonly StoredEvent[],
  parked: Map<string, Parking | undefined>,
): Generator<ParkingStep, number, unknown> {
  let held = 0;
  for (const event of events) {
    const entity = entityOf(definition, event);
    if (parked.has(entity) && releases(entity, event)) {
      yield { change: tx`delete from parked where entity = ${entity}` };
      parked.delete(entity);
    }
    if (!parked.has(entity)) {
      const fault = yield { apply: event };
      if (fault === undefined) continue;
      yield { change: park(entity, event, fault) };
      parked.set(entity, { event, fault });
    }
    yield { change: hold(entity, event) };
    held++;
  }
  return held;
}

/** Parks an entity: its rows stay unchanged, and its later events are held. */
const park = (entity: string, event: StoredEvent, fault: unknown): RowChange =>
  insertInto('parked', { entity, position: String(event.position), error: describeFault(fault) });

/** Holds an event until its entity is released. Its text is only in the log, so that a purge reaches it. */
const hold = (entity: string, event: StoredEvent): RowChange =>
  insertInto('held', { position: String(event.position), entity, stream: event.stream, revision: event.revision });

export const parkedIn = (sql: Sql, schema: string): Promise<Parked[]> => sql<Parked[]>`
  select entity, position::text, error, since,
    (select count(*)::integer from ${sql(schema)}.held where held.entity = parked.entity) as held
  from ${sql(schema)}.parked order by parked.position`;

/**
 * Retries the held events of one or all parked entities, in order. Purged ones are skipped. An entity is released after its last
 * held event was applied. Events that were applied before the next failure stay applied.
 */
export async function retryParked(
  sql: Sql,
  store: EventStore,
  definition: Definition,
  only?: string,
): Promise<{ released: string[]; parked: Parked[] }> {
  const { schema } = definition;
  const checkpoint = await readCheckpoint(sql, schema);
  if (!checkpoint) return { released: [], parked: [] };
  if (checkpoint.fingerprint !== definition.fingerprint) throw new DefinitionChanged(definition.projection.name);
  await keepPlacesOfHeld(sql, schema);
  const released: string[] = [];
  for (const { entity } of await parkedIn(sql, schema)) {
    if (only !== undefined && entity !== only) continue;
    const isFree = await sql.begin(async (tx) => {
      await takeOver(tx, definition, schema);
      await enter(tx, schema);
      return retryEntity(tx, store, definition, entity);
    });
    if (isFree) released.push(entity);
  }
  return { released, parked: await parkedIn(sql, schema) };
}

async function retryEntity(tx: TransactionSql, store: EventStore, definition: Definition, entity: string): Promise<boolean> {
  const rows = await tx<{ position: string; stream: string; revision: number }[]>`
    select position::text, stream, revision from held where entity = ${entity} order by held.position`;
  for (const { position, stream, revision } of rows) {
    const event = await eventAt(store, stream, revision);
    const fault = event && (await tryEvent(tx, definition, event));
    if (fault !== undefined) {
      await tx`update parked set position = ${position}, error = ${describeFault(fault)} where entity = ${entity}`;
      return false;
    }
    await tx`delete from held where position = ${position}`;
  }
  await tx`delete from parked where entity = ${entity}`;
  return true;
}

/**
 * Whether an event releases its parked entity: after a purge of the whole entity, its earlier events do not count any more, and
 * its rows must not stay. A rebuild reads the log without them.
 */
const releases = (entity: string, { stream, type }: StoredEvent): boolean => entity === stream && isPurge(type);

/** Applies one event alone and returns the error; undefined on success. */
export async function tryEvent(tx: TransactionSql, definition: Definition, event: StoredEvent): Promise<unknown> {
  try {
    await tx.savepoint((inner) => sendOneByOne(inner, changesOf(definition, event, inner)));
    return undefined;
  } catch (error) {
    if (isOutage(error)) throw error;
    return faultOf(error);
  }
}

/** What a handler threw, which is always defined. */
export const faultOf = (thrown: unknown): unknown => thrown ?? new Error('A handler threw nothing.');
