import { readFile } from 'node:fs/promises';
import type { Sql } from 'postgres';
import { projections } from '../../projections/catalogue.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { definitionOf } from '../../src/platform/projections/definition.js';
import { createSchema } from '../../src/platform/projections/schema.js';
import { createReactionTables } from '../../src/platform/reactions/reaction-tables.js';

/** The description of all schemas. It is not an .sql file, so that it is not taken for the tables of a read model. */
export const SCHEMAS_FILE = new URL('../../projections/schema.txt', import.meta.url);

const HEADING =
  'What is in a new database: the log, what reactions remember, and the read models. Written by `npm run schema:dump`.';

/** Creates in an empty database what the service creates on its first start. */
export async function makeSchemas(sql: Sql, url: string): Promise<void> {
  const store = new PostgresEventStore({ url, readConnections: 1 });
  await store.start();
  await store.close();
  await createReactionTables(sql);
  for (const projection of projections) {
    const definition = await definitionOf(projection);
    await createSchema(sql, definition, definition.schema);
  }
}

/** A line about a table, or about its schema if `table` is empty. */
type Described = Readonly<{ schema: string; table: string; text: string }>;

/** Describes all schemas except the server's own, in a fixed order: equal schemas give equal texts. */
export async function describeSchemas(sql: Sql): Promise<string> {
  const query = await readFile(new URL('./schemas.sql', import.meta.url), 'utf8');
  const described = await sql.begin(async (tx) => {
    // With this search path, names in defaults and expressions are printed with their schema.
    await tx`set local search_path = pg_catalog`;
    return tx.unsafe<Described[]>(query);
  });
  const extensions = await sql<{ extname: string }[]>`
    select extname from pg_extension where extname <> 'plpgsql' order by extname collate "C"`;
  const lines = [HEADING, '', ...extensions.map(({ extname }) => `extension ${extname}`)];
  let before: Described | undefined;
  for (const line of described) {
    const inNewSchema = line.schema !== before?.schema;
    if (inNewSchema) lines.push('', `schema ${line.schema}`);
    if (line.table && (inNewSchema || line.table !== before?.table)) lines.push('', `  table ${line.table}`);
    lines.push(line.table ? `    ${line.text}` : `  ${line.text}`);
    before = line;
  }
  return `${lines.join('\n')}\n`;
}
