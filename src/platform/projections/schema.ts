import type { Sql, TransactionSql } from 'postgres';
import { LOG_START } from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { hasColumn, hasTable, schemasWith } from '../postgres/catalog.js';
import { type Definition, DefinitionChanged } from './definition.js';

/** The checkpoint of a schema, with the epoch of its writer. */
export type Checkpoint = Readonly<{
  position: bigint;
  /** The time of the newest applied event; null before the first. */
  eventAt: Date | null;
  /** Each new writer increments it. A writer with an older epoch is fenced out. */
  epoch: bigint;
  fingerprint: string;
}>;

type CheckpointRow = { position: string; event_at: Date | null; epoch: string; fingerprint: string };

/** The tables that the runner adds to the schema of every projection. */
export const BOOK_KEEPING_TABLES = ['checkpoint', 'parked', 'held', 'deferred_index'];

const BOOK_KEEPING = `
  create table checkpoint (
    only_row    boolean primary key default true check (only_row),
    position    bigint not null,
    event_at    timestamptz,
    epoch       bigint not null,
    fingerprint text not null
  );
  create table parked (
    entity     text primary key,
    position   bigint not null,
    error      text not null,
    since      timestamptz not null default now()
  );
  create table held (
    position bigint primary key,
    entity   text not null references parked on delete cascade,
    stream   text not null,
    revision integer not null
  );
  create index held_by_entity on held (entity, position);
`;

/** Sets the schema of a transaction. A crash may lose its commit, which is applied again from the log. */
export const enter = (tx: TransactionSql, schema: string) => tx`
  select set_config('search_path', ${`"${schema}", public`}, true), set_config('synchronous_commit', 'off', true)`;

/** Creates the schema with a checkpoint before the first event. */
export async function createSchema(sql: Sql, { ddl, fingerprint }: Definition, schema: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`create schema ${tx(schema)}`;
    await enter(tx, schema);
    await tx.unsafe(BOOK_KEEPING);
    await tx.unsafe(ddl);
    await tx`insert into checkpoint (position, epoch, fingerprint) values (${String(LOG_START)}, 0, ${fingerprint})`;
  });
}

const holdsCopies = (sql: Sql | TransactionSql, schema: string) => hasColumn(sql, schema, 'held', 'event');

/** Earlier versions of the program kept a copy of each held event. */
export async function keepPlacesOfHeld(sql: Sql, schema: string): Promise<void> {
  if (!(await holdsCopies(sql, schema))) return;
  await sql.begin(async (tx) => {
    await enter(tx, schema);
    await tx`lock table held`;
    if (!(await holdsCopies(tx, schema))) return;
    await tx.unsafe(`
      alter table held add column stream text, add column revision integer;
      update held set stream = event::json ->> 'stream', revision = (event::json ->> 'revision')::integer;
      alter table held alter column stream set not null, alter column revision set not null, drop column event;
    `);
  });
}

/** The parked entities of a schema, and the number of held events. One statement reads both, because each start reads all schemas. */
export async function readHeld(sql: Sql, schema: string): Promise<Readonly<{ parked: readonly string[]; held: number }>> {
  const [row] = await sql<{ parked: string[]; held: number }[]>`
    select array(select entity from ${sql(schema)}.parked) as parked, (select count(*)::integer from ${sql(schema)}.held) as held`;
  return row!;
}

/** The checkpoint of a schema; undefined if the schema does not exist. */
export async function readCheckpoint(sql: Sql | TransactionSql, schema: string): Promise<Checkpoint | undefined> {
  if (!(await hasTable(sql, schema, 'checkpoint'))) return undefined;
  const [row] = await sql<
    CheckpointRow[]
  >`select position::text, event_at, epoch::text, fingerprint from ${sql(schema)}.checkpoint`;
  return row && asCheckpoint(row);
}

/** Increments the epoch, which fences out the current writer. @throws DefinitionChanged */
export async function takeOver(
  sql: Sql | TransactionSql,
  { projection, fingerprint }: Definition,
  schema: string,
): Promise<Checkpoint> {
  const [row] = await sql<CheckpointRow[]>`
    update ${sql(schema)}.checkpoint set epoch = epoch + 1 where fingerprint = ${fingerprint}
    returning position::text, event_at, epoch::text, fingerprint`;
  if (!row) throw new DefinitionChanged(projection.name);
  return asCheckpoint(row);
}

const asCheckpoint = ({ position, event_at, epoch, fingerprint }: CheckpointRow): Checkpoint => ({
  position: BigInt(position),
  eventAt: event_at,
  epoch: BigInt(epoch),
  fingerprint,
});

export const dropSchema = (sql: Sql | TransactionSql, schema: string) => sql`drop schema if exists ${sql(schema)} cascade`;

/** How often a starting process logs that it waits for tables that another process creates. */
const TABLES_NOTICE_MS = 10_000;
const TABLES_POLL_MS = 100;

/** Resolves once all these schemas have their tables. Logs a missing one regularly. */
export async function untilTablesAreThere(
  sql: Sql,
  schemas: readonly string[],
  onMissing: (schema: string) => void,
  timing: Timing,
  noticeMs = TABLES_NOTICE_MS,
): Promise<void> {
  for (let noticed = timing.elapsedMs(); ; await timing.pause(TABLES_POLL_MS)) {
    // Postgres may not be running yet, which counts as missing tables.
    const there = await schemasWith(sql, schemas, 'checkpoint').catch(() => new Set<string>());
    const missing = schemas.find((schema) => !there.has(schema));
    if (missing === undefined) return;
    if (timing.elapsedMs() - noticed < noticeMs) continue;
    noticed = timing.elapsedMs();
    onMissing(missing);
  }
}
