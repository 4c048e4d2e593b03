import { afterEach, expect, it } from '@jest/globals';
import { serviceDatabase, type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { LOG_START } from '../kernel/event-sourcing/event-store.js';
import { furthestPlace } from './furthest-place.js';

let database: TestDatabase;
afterEach(() => database.close());

it('a database without tables has no place', async () => {
  database = await testDatabase();
  expect(await furthestPlace(database.sql)).toBe(LOG_START);
});

it('the furthest place is that of a read model or of a reaction', async () => {
  database = await serviceDatabase();
  const { sql } = database;
  expect(await furthestPlace(sql)).toBe(LOG_START);
  await sql`update conversations.checkpoint set position = 9007199254740993`;
  await sql`update agents.checkpoint set position = 7`;
  expect(await furthestPlace(sql)).toBe(9007199254740993n);
  await sql`insert into reactions.reaction_checkpoint (reaction, position, epoch) values ('a', 9007199254740995, 0), ('b', 2, 0)`;
  expect(await furthestPlace(sql)).toBe(9007199254740995n);
});
