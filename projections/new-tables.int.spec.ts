import { afterAll, beforeAll, expect, it } from '@jest/globals';
import postgres, { type Sql } from 'postgres';
import { type ConversationEvent, conversationStream } from '../src/dialogue/conversation/conversation.events.js';
import { TYPES } from '../src/platform/postgres/database.js';
import { type TestDatabase, testDatabase } from '../test/support/postgres-for-tests.js';
import { projecting } from '../test/support/projecting.js';
import { turnSettings } from '../test/support/turn-settings.js';
import { projections } from './catalogue.js';
import { type Projection, schemaOf } from './projection.js';

/** Enough for Postgres to keep the plans that it made when the tables were small. */
const FIRST_PAGES = 20;
const CONVERSATIONS = 600;
/** The number of conversations whose events come one by one. */
const SLOW_CONVERSATIONS = 80;
/** The rows that one more conversation may read, with those of index lookups. */
const FEW = 60;
const WITH_TURNS = projections.filter(({ categories }) => categories === undefined || categories.includes('conversation'));

const parts = { answer: 'Because.', thought: '', sources: [], structured: false, toolCalls: [], modelId: 'm' };
function conversation(conversationId: string): readonly ConversationEvent[] {
  const turnId = conversationId;
  const start = { ownerId: 'ann', agentId: 'guide', name: 'x', visibility: 'listed', sharedUsage: false, history: [] } as const;
  return [
    { type: 'ConversationStarted', data: { conversationId, ...start } },
    { type: 'TurnAsked', data: { conversationId, turnId, index: 0, question: 'Why?', requestId: 'r', settings: turnSettings() } },
    { type: 'TurnAnswered', data: { conversationId, turnId, ...parts, usage: { promptTokens: 3, completionTokens: 1 } } },
    { type: 'TurnSealed', data: { conversationId, turnId, lastId: 3, frames: 4, sha256: 'ab' } },
  ];
}

let database: TestDatabase;
/** One connection, as its plans and its statistics belong to it. */
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => undefined, types: TYPES, fetch_types: false });
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

async function rowsReadIn(schema: string): Promise<number> {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ rows: number }[]>`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 as rows
    from pg_stat_user_tables where schemaname = ${schema}`;
  return row!.rows;
}

/** A projection whose tables are never analyzed, and the schema. */
async function neverAnalyzed(projection: Projection) {
  const schema = schemaOf(projection);
  const model = await projecting(projection, sql);
  const tables = await sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = ${schema}`;
  for (const { name } of tables) await sql`alter table ${sql(schema)}.${sql(name)} set (autovacuum_enabled = off)`;
  return { schema, model };
}

it.each(WITH_TURNS.map((projection) => [projection.name, projection] as const))(
  'the events of a conversation read few rows of %s, although its tables were never analyzed',
  async (_, projection) => {
    const { schema, model } = await neverAnalyzed(projection);
    for (let n = 0; n < FIRST_PAGES; n++) await model.given(conversationStream(`a${n}`), conversation(`a${n}`));
    for (let n = 0; n < CONVERSATIONS; n++) await model.given(conversationStream(`b${n}`), conversation(`b${n}`));
    const before = await rowsReadIn(schema);
    await model.given(conversationStream('c'), conversation('c'));
    expect((await rowsReadIn(schema)) - before).toBeLessThan(FEW);
  },
);

it.each(WITH_TURNS.map((projection) => [projection.name, projection] as const))(
  'each event of a conversation that comes alone reads few rows of %s, although its tables were never analyzed',
  async (_, projection) => {
    const { schema, model } = await neverAnalyzed(projection);
    const oneByOne = async (id: string) => {
      for (const event of conversation(id)) await model.given(conversationStream(id), [event]);
    };
    for (let n = 0; n < SLOW_CONVERSATIONS; n++) await oneByOne(`a${n}`);
    const before = await rowsReadIn(schema);
    await oneByOne('b');
    expect((await rowsReadIn(schema)) - before).toBeLessThan(FEW);
  },
);
