import type { Sql } from 'postgres';
import { hasTable } from '../postgres/catalog.js';
import { BOOK_KEEPING_TABLES } from './schema.js';

const MEMORY = '256MB';

/** Which indexes are deferred: all, or only text indexes, which no change uses to find rows. */
export type Deferred = 'all' | 'texts';

/**
 * Drops the indexes of tables that are about to be filled, and records their definitions. Maintaining an index of scattered
 * values row by row costs more the larger it grows; building it at the end costs one sort. Primary keys stay.
 */
export async function deferIndexes(sql: Sql, schema: string, which: Deferred): Promise<void> {
  await sql.begin(async (tx) => {
    const indexes = await tx<{ name: string; definition: string }[]>`
      select index.relname as name, pg_get_indexdef(indexrelid) as definition
      from pg_index join pg_class as index on index.oid = indexrelid join pg_class as indexed on indexed.oid = indrelid
        join pg_namespace on pg_namespace.oid = indexed.relnamespace join pg_am on pg_am.oid = index.relam
      where nspname = ${schema} and not indisunique and indexed.relname <> all (${BOOK_KEEPING_TABLES})
        and ${which === 'all' ? tx`true` : tx`amname = 'gin'`}`;
    await tx`create table ${tx(schema)}.deferred_index (definition text not null)`;
    for (const { name, definition } of indexes) {
      await tx`insert into ${tx(schema)}.deferred_index values (${definition})`;
      await tx`drop index ${tx(schema)}.${tx(name)}`;
    }
  });
}

/** Builds all deferred indexes in one transaction. A second call does nothing. */
export async function buildDeferredIndexes(sql: Sql, schema: string): Promise<void> {
  if (!(await hasTable(sql, schema, 'deferred_index'))) return;
  await sql.begin(async (tx) => {
    await tx`select set_config('statement_timeout', '0', true), set_config('maintenance_work_mem', ${MEMORY}, true)`;
    const rows = await tx<{ definition: string }[]>`select definition from ${tx(schema)}.deferred_index`;
    for (const { definition } of rows) await tx.unsafe(definition);
    await tx`drop table ${tx(schema)}.deferred_index`;
  });
}
