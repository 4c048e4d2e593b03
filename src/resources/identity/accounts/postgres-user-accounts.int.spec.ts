import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Sql } from 'postgres';
import { type TestDatabase, testDatabase } from '../../../../test/support/postgres-for-tests.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import { migrate } from '../../../platform/postgres/migrate.js';
import { IDENTITY_SCHEMA, IDENTITY_STEPS } from '../identity-tables.js';
import { PostgresUserAccounts } from './postgres-user-accounts.js';
import { NO_LABEL, ownSubject } from './user-accounts.port.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await migrate(database.sql, IDENTITY_SCHEMA, IDENTITY_STEPS);
});
afterAll(() => database.close());

/** A process with its own cache and the shared table. */
const process = () => new PostgresUserAccounts(database.sql);

const ofIssuer = (issuer: string, claim = 'sub', value = 'alice') => ({ issuer, claim, value });

it('a user has the same id in every process', async () => {
  const first = process();
  const id = await first.idOf(ownSubject('alice'));
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect([await first.idOf(ownSubject('alice')), await process().idOf(ownSubject('alice'))]).toEqual([id, id]);
});

it('concurrent first requests in several processes get the same id', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => process().idOf(ownSubject('new'))));
  expect(new Set(ids).size).toBe(1);
});

it('the same value of another issuer or claim is another user', async () => {
  const subjects = [
    ownSubject('alice'),
    ofIssuer('https://a.example'),
    ofIssuer('https://b.example'),
    ofIssuer('https://a.example', 'email'),
    ofIssuer('https://a.example', 'sub', 'Alice'),
    ofIssuer('https://a.example', 'sub', 'local'),
  ];
  const accounts = process();
  const ids: string[] = [];
  for (const subject of subjects) ids.push(await accounts.idOf(subject));
  expect(new Set(ids).size).toBe(subjects.length);
  expect(ids).not.toContain('local');
});

it('an id does not reveal its user', async () => {
  const id = await process().idOf(ofIssuer('https://a.example', 'email', 'ann@example.org'));
  expect(id).not.toContain('ann');
});

it('a user has the label that the issuer reported last', async () => {
  const accounts = process();
  const [ann, bob] = [await accounts.idOf(ownSubject('ann')), await accounts.idOf(ownSubject('bob'))];
  await accounts.describe(ann, { email: 'ann@example.org', name: 'Ann', picture: null });
  expect(await process().labelsOf([ann, bob])).toEqual(
    new Map([[ann, { email: 'ann@example.org', name: 'Ann', picture: null }]]),
  );
  await accounts.describe(ann, { ...NO_LABEL, name: 'Ann B.' });
  expect((await accounts.labelsOf([ann])).get(ann)).toEqual({ email: null, name: 'Ann B.', picture: null });
});

it('finds a user by id, and by an e-mail address that only one user has', async () => {
  const accounts = process();
  const [ann, bob, cat] = await Promise.all(['Find-Ann', 'Find-Bob', 'Find-Cat'].map((name) => accounts.idOf(ownSubject(name))));
  await accounts.describe(ann!, { ...NO_LABEL, email: 'Ann@Example.org' });
  for (const twice of [bob!, cat!]) await accounts.describe(twice, { ...NO_LABEL, email: 'shared@example.org' });
  expect(await accounts.find({ userId: ann! })).toBe(ann);
  expect(await accounts.find({ email: 'ann@example.org' })).toBe(ann);
  expect(await accounts.find({ email: 'shared@example.org' })).toBeUndefined();
  expect(await accounts.find({ userId: 'nobody' })).toBeUndefined();
});

it('finds a user by an e-mail address without reading the other users', async () => {
  const erin = await process().idOf(ownSubject('Erin'));
  await process().describe(erin, { ...NO_LABEL, email: 'erin@example.org' });
  await database.sql`insert into identity.user_account (user_id, issuer, claim, value, email)
    select 'u' || n, 'many', 'sub', n, 'u' || n || '@example.org' from generate_series(1, 5000) n`;
  await database.sql`analyze identity.user_account`;
  const find = (sql: Sql) => new PostgresUserAccounts(sql).find({ email: 'Erin@example.org' });
  expect(await rowsRead(database.url, find)).toBe(1);
});
