import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LOG_START } from '../../src/kernel/event-sourcing/event-store.js';
import type { World } from './world.js';

/** A text that a service has stored, and where. */
export type StoredText = Readonly<{ where: string; text: string }>;

/** Everything that a service has stored: its log, its files and every row of every schema. */
export async function* everythingStored({ backing, service }: World): AsyncGenerator<StoredText> {
  for await (const page of backing.store.readAll({ after: LOG_START })) {
    for (const { stream, revision, type, data, metadata } of page.events) {
      yield { where: `${stream}@${revision} ${type}`, text: data + metadata };
    }
  }
  for (const file of await readdir(service.dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (file.isFile()) yield { where: path, text: (await readFile(path)).toString('latin1') };
  }
  const { sql } = service.database;
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
  for (const { schema, name } of tables) {
    const rows = await sql<{ text: string }[]>`select t::text as text from ${sql(schema)}.${sql(name)} t`;
    for (const { text } of rows) yield { where: `${schema}.${name}`, text };
  }
}
