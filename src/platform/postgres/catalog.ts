import type { Sql, TransactionSql } from 'postgres';
import { SharedCalls } from '../shared-calls.js';

// The views of `information_schema` and `pg_tables` take up to 20 ms of the server at each connection that first asks them.

/** A table, and the name of a column that it may have. */
type Wanted = Readonly<{ table: string; column?: string }>;

/** Look-ups made at the same time, as by all read models of a service that starts, share statements. */
const lookUps = new WeakMap<Sql | TransactionSql, SharedCalls<Wanted, boolean>>();

function isThere(sql: Sql | TransactionSql, wanted: Wanted): Promise<boolean> {
  const shared = lookUps.get(sql) ?? new SharedCalls((all: readonly Wanted[]) => areThere(sql, all));
  lookUps.set(sql, shared);
  return shared.call(wanted, Infinity);
}

async function areThere(sql: Sql | TransactionSql, wanted: readonly Wanted[]): Promise<readonly boolean[]> {
  const tables = wanted.map(({ table }) => table);
  const columns = wanted.map(({ column }) => column ?? null);
  const rows = await sql<{ there: boolean }[]>`
    select case
      when attribute is null then to_regclass(name) is not null
      else exists (select from pg_attribute where attrelid = to_regclass(name) and attname = attribute and not attisdropped)
    end as there
    from unnest(${tables}::text[], ${columns}::text[]) with ordinality as wanted (name, attribute, place) order by place`;
  return rows.map(({ there }) => there);
}

/** Whether a table exists. */
export const hasTable = (sql: Sql | TransactionSql, schema: string, table: string): Promise<boolean> =>
  isThere(sql, { table: nameOf(schema, table) });

/** The schemas of these that have a table of this name. */
export async function schemasWith(sql: Sql, schemas: readonly string[], table: string): Promise<ReadonlySet<string>> {
  const rows = await sql<{ schema: string }[]>`
    select schema from unnest(${[...schemas]}::text[], ${schemas.map((schema) => nameOf(schema, table))}::text[]) as wanted (schema, name)
    where to_regclass(name) is not null`;
  return new Set(rows.map(({ schema }) => schema));
}

/** Whether a table exists and has a column of this name. */
export const hasColumn = (sql: Sql | TransactionSql, schema: string, table: string, column: string): Promise<boolean> =>
  isThere(sql, { table: nameOf(schema, table), column });

const nameOf = (schema: string, table: string): string => `"${schema}"."${table}"`;
