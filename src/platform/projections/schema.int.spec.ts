import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { conversations } from '../../../projections/conversations/conversations.projection.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { eventually } from '../../../test/support/eventually.js';
import { systemTiming } from '../system-timing.js';
import { definitionOf } from './definition.js';
import { createSchema, untilTablesAreThere } from './schema.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

it('waits until another process has created the tables, and reports the missing schema', async () => {
  const missing: string[] = [];
  const waiting = untilTablesAreThere(database.sql, ['conversations'], (schema) => void missing.push(schema), systemTiming, 1);
  await eventually(() => missing.length >= 2);
  await createSchema(database.sql, await definitionOf(conversations), 'conversations');
  await waiting;
  expect(new Set(missing)).toEqual(new Set(['conversations']));
});
