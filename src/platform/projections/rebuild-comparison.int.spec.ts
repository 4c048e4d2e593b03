import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { accounts } from '../../../test/support/accounts.js';
import { eventually } from '../../../test/support/eventually.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import type { Timing } from '../../kernel/timing.js';
import { systemTiming } from '../system-timing.js';
import { definitionOf } from './definition.js';
import { heldStill } from './rebuild-comparison.js';
import { createSchema } from './schema.js';

/** Longer than a busy machine delays a heartbeat. */
const SILENT_MS_MAX = 2_000;
const HEARTBEAT = { everyMs: 50, silentMsMax: SILENT_MS_MAX };

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await createSchema(database.sql, await definitionOf(accounts()), 'accounts');
});
afterAll(() => database.close());

const isHeld = async () => {
  const rows = await database.sql`
    select from pg_locks where relation = 'accounts.checkpoint'::regclass and mode = 'ExclusiveLock' and granted`;
  return rows.length > 0;
};

it('a frozen rebuild loses the lock on the live rows, and what it does afterwards fails', async () => {
  const frozen = Object.assign(Object.create(systemTiming) as Timing, { pause: () => new Promise<void>(() => undefined) });
  const held = heldStill(database.sql, frozen, 'accounts', () => eventually(async () => !(await isHeld())), HEARTBEAT);
  await expect(held).rejects.toThrow();
  expect(await isHeld()).toBe(false);
});

it('a rebuild that works for longer keeps the lock until it is done', async () => {
  const run = async () => {
    await sleep(2 * SILENT_MS_MAX);
    return isHeld();
  };
  expect(await heldStill(database.sql, systemTiming, 'accounts', run, HEARTBEAT)).toBe(true);
  expect(await isHeld()).toBe(false);
});
