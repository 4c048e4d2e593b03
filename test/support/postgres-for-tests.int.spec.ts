import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from './postgres-for-tests.js';

let one: TestDatabase;
let other: TestDatabase;

beforeAll(async () => {
  [one, other] = await Promise.all([testDatabase(), testDatabase()]);
});

afterAll(() => Promise.all([one.close(), other.close()]));

it('gives each test file its own database', async () => {
  await one.sql`create table seen_by_one_only (n int)`;
  const [row] = await other.sql`select to_regclass('seen_by_one_only') as found`;
  expect(row).toEqual({ found: null });
});

it('names the database so that it is not mistaken for a real one', () => {
  expect(new URL(one.url).pathname).toMatch(/^\/test_/);
});
