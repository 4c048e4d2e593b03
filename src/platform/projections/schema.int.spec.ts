import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { conversations } from '../../../projections/conversations/conversations.projection.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { eventually } from '../../../test/support/eventually.js';
import { systemTiming } from '../system-timing.js';
import { definitionOf } from './definition.js';
import { createSchema, dropSchema, readHeld, untilTablesAreThere } from './schema.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
afterEach(() => dropSchema(database.sql, 'conversations'));

it('waits until another process has created the tables, and reports the missing schema', async () => {
  const missing: string[] = [];
  const waiting = untilTablesAreThere(database.sql, ['conversations'], (schema) => void missing.push(schema), systemTiming, 1);
  await eventually(() => missing.length >= 2);
  await createSchema(database.sql, await definitionOf(conversations), 'conversations');
  await waiting;
  expect(new Set(missing)).toEqual(new Set(['conversations']));
});

it('reads the parked entities, whatever characters they have, and counts the held events', async () => {
  const { sql } = database;
  await createSchema(sql, await definitionOf(conversations), 'conversations');
  expect(await readHeld(sql, 'conversations')).toEqual({ parked: [], held: 0 });
  const entities = ['conversation-a', 'a "quoted", {braced} \\ name', 'NULL', ''];
  for (const [index, entity] of entities.entries()) {
    await sql`insert into conversations.parked (entity, position, error) values (${entity}, ${index}, 'faulty')`;
    await sql`insert into conversations.held (position, entity, stream, revision) values (${index}, ${entity}, 'some', 0)`;
  }
  const { parked, held } = await readHeld(sql, 'conversations');
  expect([[...parked].sort(), held]).toEqual([[...entities].sort(), entities.length]);
});
