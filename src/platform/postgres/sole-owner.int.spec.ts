import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { claimDatabaseAlone, CONFIRM_MS, FOREIGN_MS, LOCK } from './sole-owner.js';

let database: TestDatabase;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.close());

it('another holder of the lock counts as another process after FOREIGN_MS, by elapsed time', async () => {
  jest.useFakeTimers({
    doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'Date', 'performance'],
  });
  const [date, elapsed] = [jest.spyOn(Date, 'now'), jest.spyOn(performance, 'now')];
  const lost: Error[] = [];
  const claimed = await claimDatabaseAlone(database.url, (error) => lost.push(error));
  // A single connection, because the lock belongs to it.
  const other = await database.sql.reserve();
  const holder = (await other<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid;
  const lastClaim = async (): Promise<string> => {
    const [row] = await database.sql`
      select coalesce(max(query_start)::text, '') as at from pg_stat_activity
      where query like 'select pg_try_advisory_lock%' and state = 'idle' and pid <> ${holder} and datname = current_database()`;
    return row!['at'] as string;
  };
  const confirm = async () => {
    const before = await lastClaim();
    // A claim on a connection that has just been ended fails.
    await eventually(async () => {
      jest.advanceTimersByTime(CONFIRM_MS);
      return (await lastClaim()) > before;
    });
  };
  try {
    await database.sql`
      select pg_terminate_backend(pid) from pg_locks join pg_database on oid = database
      where locktype = 'advisory' and datname = current_database()`;
    await eventually(async () => (await other<{ ours: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as ours`)[0]!.ours);
    await confirm();
    const [now, since] = [Date.now(), performance.now()];
    date.mockReturnValue(now + 600_000);
    await confirm();
    expect(lost).toEqual([]);
    elapsed.mockReturnValue(since + FOREIGN_MS + 1);
    await confirm();
    await eventually(() => lost.length > 0);
  } finally {
    for (const spy of [date, elapsed]) spy.mockRestore();
    jest.useRealTimers();
    other.release();
    await claimed.release();
  }
});
