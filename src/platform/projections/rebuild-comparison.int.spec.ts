import { afterAll, beforeAll, expect, it } from '@jest/globals';
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

it('a rebuild that works for longer than a frozen one keeps the lock until it is done', async () => {
  const heardAt = async () => {
    const [holder] = await database.sql<{ at: Date }[]>`
      select state_change as at from pg_stat_activity join pg_locks using (pid)
      where relation = 'accounts.checkpoint'::regclass and mode = 'ExclusiveLock' and granted`;
    return holder!.at.getTime();
  };
  const run = async () => {
    const first = await heardAt();
    await eventually(async () => (await heardAt()) > first + SILENT_MS_MAX);
    return isHeld();
  };
  expect(await heldStill(database.sql, systemTiming, 'accounts', run, HEARTBEAT)).toBe(true);
  expect(await isHeld()).toBe(false);
});
