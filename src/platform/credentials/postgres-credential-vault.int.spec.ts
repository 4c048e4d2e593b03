import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { newId } from '../../kernel/ids.js';
import { CredentialsMissing, CredentialsUnreadable } from './credential-vault.port.js';
import { PostgresCredentialVault } from './postgres-credential-vault.js';

const SECRET = 'a secret for tests that is long enough';
const secrets = { token: 'pläntéd 🗝', __proto__: 'x' };

let database: TestDatabase;
let vault: PostgresCredentialVault;
beforeAll(async () => {
  database = await testDatabase();
  vault = new PostgresCredentialVault(database.sql, SECRET);
  await vault.start();
});
afterAll(() => database.close());

describe('secrets', () => {
  it('are revealed to their owner unchanged, also after a restart', async () => {
    const id = await vault.keep('alice', secrets);
    expect(await vault.reveal('alice', id)).toEqual(secrets);
    const next = new PostgresCredentialVault(database.sql, SECRET);
    await next.start();
    expect(await next.reveal('alice', id)).toEqual(secrets);
  });

  it('are missing for other users and for unknown ids', async () => {
    const id = await vault.keep('alice', secrets);
    await expect(vault.reveal('bob', id)).rejects.toThrow(CredentialsMissing);
    await vault.delete('bob', id);
    expect(await vault.reveal('alice', id)).toEqual(secrets);
    for (const none of [newId(), 'x', '']) await expect(vault.reveal('alice', none)).rejects.toThrow(CredentialsMissing);
  });

  it('are missing after one or more deletions', async () => {
    const id = await vault.keep('alice', secrets);
    await vault.delete('alice', id);
    await vault.delete('alice', id);
    await expect(vault.reveal('alice', id)).rejects.toThrow(CredentialsMissing);
  });

  it('are encrypted in the database, and equal secrets differ there', async () => {
    const ids = [await vault.keep('alice', secrets), await vault.keep('alice', secrets)];
    const rows = await database.sql<{ sealed: Buffer }[]>`
      select sealed from credentials.sealed_credential where credentials_id = any (${ids}::uuid[])`;
    expect(rows[0]!.sealed.includes('pläntéd')).toBe(false);
    expect(rows[0]!.sealed.equals(rows[1]!.sealed)).toBe(false);
  });
});

describe('changed secrets', () => {
  const unreadable = expect.objectContaining({
    name: CredentialsUnreadable.name,
    message: expect.stringContaining('ENCRYPTION_SECRET_KEY'),
  });

  it('are refused under another key, with the reason', async () => {
    const id = await vault.keep('alice', secrets);
    const other = new PostgresCredentialVault(database.sql, `${SECRET}.`);
    await expect(other.reveal('alice', id)).rejects.toEqual(unreadable);
  });

  it('are refused when rows were swapped or an owner was changed', async () => {
    const [mine, yours] = [await vault.keep('alice', { token: 'mine' }), await vault.keep('alice', { token: 'yours' })];
    const { sql } = database;
    await sql`update credentials.sealed_credential as a set sealed = b.sealed from credentials.sealed_credential as b
      where (a.credentials_id, b.credentials_id) in ((${mine}, ${yours}), (${yours}, ${mine}))`;
    await expect(vault.reveal('alice', mine)).rejects.toEqual(unreadable);
    await expect(vault.reveal('alice', yours)).rejects.toEqual(unreadable);
    const given = await vault.keep('alice', secrets);
    await sql`update credentials.sealed_credential set owner_id = 'bob' where credentials_id = ${given}`;
    await expect(vault.reveal('bob', given)).rejects.toEqual(unreadable);
  });

  it('are refused when a bit was flipped or bytes are missing', async () => {
    const id = await vault.keep('alice', { token: 't' });
    const { sql } = database;
    const [row] = await sql<{ sealed: Buffer }[]>`select sealed from credentials.sealed_credential where credentials_id = ${id}`;
    const put = (sealed: Buffer) => sql`update credentials.sealed_credential set sealed = ${sealed} where credentials_id = ${id}`;
    for (let at = 0; at < row!.sealed.length; at++) {
      const flipped = Buffer.from(row!.sealed);
      flipped[at]! ^= 1 << (at % 8);
      await put(flipped);
      await expect(vault.reveal('alice', id)).rejects.toThrow(CredentialsUnreadable);
    }
    for (const length of [0, 1, 28, row!.sealed.length - 1]) {
      await put(row!.sealed.subarray(0, length));
      await expect(vault.reveal('alice', id)).rejects.toThrow(CredentialsUnreadable);
    }
  });

  it('a vault without a key cannot be opened', () => {
    expect(() => new PostgresCredentialVault(database.sql, '')).toThrow('ENCRYPTION_SECRET_KEY');
  });
});
