import { afterAll, beforeAll, expect, it } from '@jest/globals';
import postgres from 'postgres';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { hasColumn, hasTable } from './catalog.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await database.sql.unsafe('create table kept (held text, dropped text); alter table kept drop column dropped');
});
afterAll(() => database.close());

it('tables and columns that are looked up together are looked up with one statement', async () => {
  const sent: string[] = [];
  const sql = postgres(database.url, { debug: (_, statement) => void sent.push(statement) });
  expect(
    await Promise.all([
      hasTable(sql, 'public', 'kept'),
      hasTable(sql, 'nowhere', 'kept'),
      hasColumn(sql, 'public', 'kept', 'held'),
      hasColumn(sql, 'public', 'kept', 'dropped'),
      hasColumn(sql, 'nowhere', 'kept', 'held'),
    ]),
  ).toEqual([true, false, true, false, false]);
  expect(sent.filter((statement) => statement.includes('to_regclass'))).toHaveLength(1);
  await sql.end();
});
