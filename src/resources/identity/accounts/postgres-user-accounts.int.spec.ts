import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../../../../test/support/postgres-for-tests.js';
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

/** Another process has its own memory and the same table. */
const process = () => new PostgresUserAccounts(database.sql);

const ofIssuer = (issuer: string, claim = 'sub', value = 'alice') => ({ issuer, claim, value });

it('a user keeps their id, in every process and after a restart', async () => {
  const first = process();
  const id = await first.idOf(ownSubject('alice'));
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect([await first.idOf(ownSubject('alice')), await process().idOf(ownSubject('alice'))]).toEqual([id, id]);
});

it('of first requests at once in several processes all get one id', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => process().idOf(ownSubject('new'))));
  expect(new Set(ids).size).toBe(1);
});

it('the same name of another issuer, or in another claim, is another user', async () => {
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

it('an id says nothing of its user', async () => {
  const id = await process().idOf(ofIssuer('https://a.example', 'email', 'ann@example.org'));
  expect(id).not.toContain('ann');
});

it('a user is described as their issuer last described them', async () => {
  const accounts = process();
  const [ann, bob] = [await accounts.idOf(ownSubject('ann')), await accounts.idOf(ownSubject('bob'))];
  await accounts.describe(ann, { email: 'ann@example.org', name: 'Ann', picture: null });
  expect(await process().labelsOf([ann, bob])).toEqual(
    new Map([[ann, { email: 'ann@example.org', name: 'Ann', picture: null }]]),
  );
  await accounts.describe(ann, { ...NO_LABEL, name: 'Ann B.' });
  expect((await accounts.labelsOf([ann])).get(ann)).toEqual({ email: null, name: 'Ann B.', picture: null });
});

it('finds a user by the id, and by an address that one user has', async () => {
  const accounts = process();
  const [ann, bob, cat] = await Promise.all(['Find-Ann', 'Find-Bob', 'Find-Cat'].map((name) => accounts.idOf(ownSubject(name))));
  await accounts.describe(ann!, { ...NO_LABEL, email: 'Ann@Example.org' });
  for (const twice of [bob!, cat!]) await accounts.describe(twice, { ...NO_LABEL, email: 'shared@example.org' });
  expect(await accounts.find({ userId: ann! })).toBe(ann);
  expect(await accounts.find({ email: 'ann@example.org' })).toBe(ann);
  expect(await accounts.find({ email: 'shared@example.org' })).toBeUndefined();
  expect(await accounts.find({ userId: 'nobody' })).toBeUndefined();
});
