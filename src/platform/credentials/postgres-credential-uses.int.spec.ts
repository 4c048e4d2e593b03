import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { PostgresCredentialUses } from './postgres-credential-uses.js';

const [first, second] = [new Date('2026-01-01T00:00:00.000Z'), new Date('2026-01-01T00:01:00.000Z')];

let database: TestDatabase;
let uses: PostgresCredentialUses;
beforeAll(async () => {
  database = await testDatabase();
  uses = new PostgresCredentialUses(database.sql);
  await uses.start();
});
afterAll(() => database.close());

it('the newest use of a credential is kept for any order of uses, also after a restart', async () => {
  await uses.note('t1', second, '203.0.113.2');
  await uses.note('t1', first, '203.0.113.1');
  await uses.start();
  expect(await uses.of(['t1', 't2'])).toEqual(new Map([['t1', { usedAt: second, address: '203.0.113.2' }]]));
});

it('the use of an ended credential is deleted', async () => {
  await uses.note('t3', first, '203.0.113.1');
  await uses.forget('t3');
  await uses.forget('t3');
  expect((await uses.of(['t3'])).size).toBe(0);
});
