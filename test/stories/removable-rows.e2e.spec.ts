import { it } from '@jest/globals';
import { onEventStoreDb, onPostgres } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { serviceForTests } from '../support/service.js';

/** While a session has a snapshot, Postgres removes no rows that are replaced or deleted later, of any table. */
it.each([
  ['Postgres', onPostgres],
  ['EventStoreDB', onEventStoreDb],
])('a running service keeps no snapshot between its statements, with the log in %s', async (_, makeBacking) => {
  const service = await serviceForTests({}, makeBacking);
  const { sql } = service.database;
  const leads = () => sql`select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
    where datname = current_database() and locktype = 'advisory' and granted limit 1`;
  const snapshots = () => sql`select 1 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null`;
  try {
    await eventually(async () => (await leads()).length > 0);
    await eventually(async () => (await snapshots()).length === 0);
  } finally {
    await service.close();
  }
});
