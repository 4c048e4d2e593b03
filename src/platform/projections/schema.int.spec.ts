import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { conversations } from '../../../projections/conversations/conversations.projection.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { definitionOf } from './definition.js';
import { createSchema, untilTablesAreThere } from './schema.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

it('names the read model whose tables nobody made in time', () =>
  expect(untilTablesAreThere(database.sql, ['conversations'], 50)).rejects.toThrow('The tables of conversations are not there'));

it('waits for tables that another process makes', async () => {
  const waiting = untilTablesAreThere(database.sql, ['conversations']);
  await createSchema(database.sql, await definitionOf(conversations), 'conversations');
  await waiting;
});
