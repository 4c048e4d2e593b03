import type { Sql, TransactionSql } from 'postgres';
import { BOOK_KEEPING_TABLES } from './schema.js';

/** A checksum of a table's rows. It does not depend on their order or on the schema. */
export type TableChecksum = Readonly<{ table: string; columns: string; rows: number; sum: string }>;

/** The first row, in key order, that differs between two schemas. A side without the row has null. */
export type Difference = Readonly<{ table: string; key: unknown; live: unknown; rebuilt: unknown }>;

type Table = Readonly<{ table: string; columns: readonly string[]; key: readonly string[] }>;

/** The tables of a projection, with the columns that it writes and the primary key, or all columns if it has no key. */
async function tablesOf(sql: Sql | TransactionSql, schema: string): Promise<readonly Table[]> {
  return sql<Table[]>`
    select relname as "table",
      (select array_agg(attname::text order by attname) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      coalesce(
        (select array_agg(attname::text order by array_position(indkey::int2[], attnum)) from pg_index, pg_attribute
          where indrelid = pg_class.oid and indisprimary and attrelid = pg_class.oid and attnum = any (indkey)),
        (select array_agg(attname::text order by attname) from pg_attribute
          where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '')) as key
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = ${schema} and relkind = 'r' and relname <> all (${BOOK_KEEPING_TABLES})
    order by relname`;
}

/** Reads each table once: the number of rows and the sum of their hashes. */
export async function checksumsOf(sql: Sql | TransactionSql, schema: string): Promise<readonly TableChecksum[]> {
  const sums: TableChecksum[] = [];
  for (const { table, columns } of await tablesOf(sql, schema)) {
    const [row] = await sql<{ rows: number; sum: string }[]>`
      select count(*)::integer as rows, coalesce(sum(${hashOf(sql, columns)}::numeric), 0)::text as sum
      from ${sql(schema)}.${sql(table)} as t`;
    sums.push({ table, columns: columns.join(), ...row! });
  }
  return sums;
}

export const sameChecksums = (one: readonly TableChecksum[], other: readonly TableChecksum[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** The first difference; undefined if both schemas have the same rows. Reads all rows, so call it only if checksums differ. */
export async function firstDifference(sql: Sql | TransactionSql, live: string, rebuilt: string): Promise<Difference | undefined> {
  const [ours, theirs] = [await tablesOf(sql, live), await tablesOf(sql, rebuilt)];
  for (const { table, columns, key } of ours) {
    const other = theirs.find((candidate) => candidate.table === table);
    if (other?.columns.join() !== columns.join())
      return { table, key: 'columns', live: columns, rebuilt: other?.columns ?? null };
    // Sorts hashes, because the rows themselves would need more space for temporary files than the tables have.
    const hashesIn = (schema: string) => sql`
      select to_jsonb(k) as key, ${hashOf(sql, columns)} as hash, count(*) as times
      from ${sql(schema)}.${sql(table)} as t, lateral (select ${columnsOf(sql, key)}) as k
      group by 1, 2`;
    const [different] = await sql<{ key: string }[]>`
      select key::text as key from (${hashesIn(live)}) as l full join (${hashesIn(rebuilt)}) as r using (key)
      where l.hash is distinct from r.hash or l.times <> r.times
      order by coalesce(l.key, r.key) limit 1`;
    if (!different) continue;
    const rowIn = async (schema: string) => {
      const [found] = await sql<{ row: unknown }[]>`
        select to_json(v) as row from ${sql(schema)}.${sql(table)} as t, lateral (select ${columnsOf(sql, key)}) as k,
          lateral (select ${columnsOf(sql, columns)}) as v
        where to_jsonb(k) = ${different.key}::text::jsonb limit 1`;
      return found?.row ?? null;
    };
    return { table, key: JSON.parse(different.key) as unknown, live: await rowIn(live), rebuilt: await rowIn(rebuilt) };
  }
  const extra = theirs.find(({ table }) => !ours.some((mine) => mine.table === table));
  return extra && { table: extra.table, key: 'columns', live: null, rebuilt: extra.columns };
}

const hashOf = (sql: Sql | TransactionSql, columns: readonly string[]) =>
  sql`hashtextextended(row(${columnsOf(sql, columns)})::text, 0)`;

const columnsOf = (sql: Sql | TransactionSql, columns: readonly string[]) =>
  columns.flatMap((column, index) => (index === 0 ? sql`t.${sql(column)}` : sql`, t.${sql(column)}`));
