import type { Sql } from 'postgres';

/** Ends the connections that make processes the leaders of something in this database. */
export async function endLeaders(sql: Sql): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_locks join pg_database on pg_database.oid = pg_locks.database
    where locktype = 'advisory' and datname = current_database() and pid <> pg_backend_pid()`;
}
