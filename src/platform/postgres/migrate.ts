import type { Sql } from 'postgres';

/** The database was written by a newer version of this program. */
export class SchemaFromTheFuture extends Error {
  override readonly name = 'SchemaFromTheFuture';
}

/**
 * Migrates a schema to its newest version. `steps` are SQL texts; shipped steps never change, and new ones are appended. Each
 * step runs once, all in one transaction. If several processes start together, one migrates and the others wait.
 */
export async function migrate(sql: Sql, schema: string, steps: readonly string[]): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(hashtextextended(${`migrate ${schema}`}, 0))`;
    await transaction`create schema if not exists ${transaction(schema)}`;
    await transaction`create table if not exists ${transaction(schema)}.migration (
      version integer primary key, applied_at timestamptz not null default now()
    )`;
    const [newest] = await transaction<{ version: number }[]>`
      select coalesce(max(version), 0) as version from ${transaction(schema)}.migration`;
    const version = newest!.version;
    if (version > steps.length) {
      throw new SchemaFromTheFuture(`Schema ${schema} is at version ${version}, this program knows ${steps.length}.`);
    }
    for (const [index, step] of steps.entries()) {
      if (index < version) continue;
      await transaction.unsafe(step);
      await transaction`insert into ${transaction(schema)}.migration (version) values (${index + 1})`;
    }
  });
}
