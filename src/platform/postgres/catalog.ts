import type { Sql, TransactionSql } from 'postgres';

// The views of `information_schema` and `pg_tables` take up to 20 ms of the server at each connection that first asks them.

/** Whether a table exists. */
export async function hasTable(sql: Sql | TransactionSql, schema: string, table: string): Promise<boolean> {
  const [found] = await sql<{ there: boolean }[]>`select to_regclass(${nameOf(schema, table)}) is not null as there`;
  return found!.there;
}

/** The schemas of these that have a table of this name. */
export async function schemasWith(sql: Sql, schemas: readonly string[], table: string): Promise<ReadonlySet<string>> {
  const rows = await sql<{ schema: string }[]>`
    select schema from unnest(${[...schemas]}::text[], ${schemas.map((schema) => nameOf(schema, table))}::text[]) as wanted (schema, name)
    where to_regclass(name) is not null`;
  return new Set(rows.map(({ schema }) => schema));
}

/** Whether a table exists and has a column of this name. */
export async function hasColumn(sql: Sql | TransactionSql, schema: string, table: string, column: string): Promise<boolean> {
  const found = await sql`
    select from pg_attribute where attrelid = to_regclass(${nameOf(schema, table)}) and attname = ${column} and not attisdropped`;
  return found.length > 0;
}

const nameOf = (schema: string, table: string): string => `"${schema}"."${table}"`;
