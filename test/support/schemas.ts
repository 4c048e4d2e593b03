import { readFile } from 'node:fs/promises';
import type { Sql } from 'postgres';
import { projections } from '../../projections/catalogue.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { definitionOf } from '../../src/platform/projections/definition.js';
import { createSchema } from '../../src/platform/projections/schema.js';
import { createReactionTables } from '../../src/platform/reactions/reaction-tables.js';

/** Where the description of all schemas is kept. It is no SQL, so that it is never taken for the tables of a read model. */
export const SCHEMAS_FILE = new URL('../../projections/schema.txt', import.meta.url);

const HEADING =
  'What is in a new database: the log, what reactions remember, and the read models. Written by `npm run schema:dump`.';

/** Makes in an empty database what the service makes there when it starts for the first time. */
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

/** A line about a table, or about its schema when `table` is empty. */
type Described = Readonly<{ schema: string; table: string; text: string }>;

/** What the server has of all schemas but its own, in an order of its own: the same schemas, the same text. */
export async function describeSchemas(sql: Sql): Promise<string> {
  const query = await readFile(new URL('./schemas.sql', import.meta.url), 'utf8');
  const described = await sql.begin(async (tx) => {
    // Names in defaults and expressions come with their schema, whatever is set for whoever asks.
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
