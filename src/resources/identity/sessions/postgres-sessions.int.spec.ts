import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../../../../test/support/postgres-for-tests.js';
import { newId } from '../../../kernel/ids.js';
import { migrate } from '../../../platform/postgres/migrate.js';
import { PostgresUserAccounts } from '../accounts/postgres-user-accounts.js';
import { ownSubject } from '../accounts/user-accounts.port.js';
import { IDENTITY_SCHEMA, IDENTITY_STEPS } from '../identity-tables.js';
import { EXPIRED_PER_SIGN_IN_MAX, PostgresSessions } from './postgres-sessions.js';

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let ann: string;
beforeAll(async () => {
  database = await testDatabase();
  await migrate(database.sql, IDENTITY_SCHEMA, IDENTITY_STEPS);
  ann = await new PostgresUserAccounts(database.sql).idOf(ownSubject('ann'));
});
afterAll(() => database.close());
beforeEach(() => database.sql`delete from identity.session`);

/** The sessions of a process. */
const process = () => new PostgresSessions(database.sql, { seal: () => Buffer.alloc(0), open: () => '' });

async function signedIn(userId: string, expiresInHours: number, sessions = process()): Promise<string> {
  const sessionId = newId();
  const provider = { issuer: 'https://id.example', subject: userId, sid: null };
  const expiresAt = new Date(Date.now() + expiresInHours * HOUR_MS);
  await sessions.begin({ sessionId, userId, provider, refreshToken: undefined, expiresAt, client: null });
  return sessionId;
}
/** Sessions that expired some days ago, the earliest first. */
const expired = (count: number) => database.sql`
  insert into identity.session (session_id, user_id, issuer, issuer_subject, expires_at)
  select gen_random_uuid(), ${ann}, '', '', now() - interval '3 days' - (${count}::integer - n) * interval '1 second'
  from generate_series(1, ${count}::integer) n`;
const kept = async () =>
  (await database.sql<{ id: string }[]>`select session_id as id from identity.session order by expires_at`).map(({ id }) => id);

it('a sign-in deletes the sessions of all users that expired more than a day ago, and no others', async () => {
  const yesterday = await signedIn(ann, -23);
  const live = await signedIn(ann, 1);
  await expired(2);
  const bob = await new PostgresUserAccounts(database.sql).idOf(ownSubject('bob'));
  const own = await signedIn(bob, 2);
  expect(await kept()).toEqual([yesterday, live, own]);
});

it('a sign-in deletes a limited number of expired sessions, the earliest first', async () => {
  await expired(EXPIRED_PER_SIGN_IN_MAX + 2);
  const newest = (await kept()).slice(-2);
  const own = await signedIn(ann, 1);
  expect(await kept()).toEqual([...newest, own]);
});

it('concurrent sign-ins in several processes delete expired sessions without waiting for each other', async () => {
  await expired(5 * EXPIRED_PER_SIGN_IN_MAX);
  await database.sql.begin(async (tx) => {
    const [held] = await tx<{ id: string }[]>`
      select session_id as id from identity.session order by expires_at limit 1 for update`;
    await Promise.all(Array.from({ length: 4 }, () => signedIn(ann, 1, process())));
    expect((await kept()).includes(held!.id)).toBe(true);
  });
  await signedIn(ann, 1);
  await signedIn(ann, 1);
  expect(await kept()).toHaveLength(6);
});
