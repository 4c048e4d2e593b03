import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccessTokensEvent, accessTokensStream } from '../../src/resources/identity/tokens/access-tokens.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { accessTokens } from './access-tokens.projection.js';
import { AccessTokenQueries } from './access-tokens.queries.js';

const created = (tokenId: string, ownerId: string, name = tokenId): AccessTokensEvent => ({
  type: 'AccessTokenCreated',
  data: {
    ...{ tokenId, ownerId, name, scopes: ['agents:read', 'chat:run'], resources: { agents: ['a1'] } },
    secret: { hash: `hash of ${tokenId}`, prefix: 'dgpt_pat_abcdef' },
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-02-01T00:00:00.000Z',
  },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: AccessTokenQueries;
const given = (ownerId: string, ...events: AccessTokensEvent[]) => model.given(accessTokensStream(ownerId), events);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(accessTokens, database.sql);
  queries = new AccessTokenQueries(new ReadModels(database.sql));
  await given('alice', created('t1', 'alice', 'Nul\0'), created('t2', 'alice'));
  await given('bob', created('t3', 'bob'));
});
afterAll(() => database.close());

describe('access tokens', () => {
  it('are found by the hash of their secret and listed for their owner', async () => {
    expect(await queries.byHash('hash of t1')).toMatchObject({ id: 't1', ownerId: 'alice', name: 'Nul\uFFFD' });
    expect((await queries.ownedBy('alice')).map(({ id }) => id)).toEqual(['t1', 't2']);
    expect(await queries.byHash('hash of t1')).toMatchObject({
      scopes: ['agents:read', 'chat:run'],
      resources: { agents: ['a1'] },
    });
  });

  it('are found only by the hash of their newest secret', async () => {
    const secret = { hash: 'another hash', prefix: 'dgpt_pat_ghijkl' };
    const about = { tokenId: 't1', ownerId: 'alice', regeneratedAt: '2026-01-02T00:00:00.000Z', expiresAt: null };
    await given('alice', { type: 'AccessTokenRegenerated', data: { ...about, secret } });
    expect(await queries.byHash('hash of t1')).toBeUndefined();
    expect(await queries.byHash('another hash')).toMatchObject({ id: 't1', prefix: 'dgpt_pat_ghijkl', expiresAt: null });
  });

  it('are removed when they are revoked', async () => {
    const revoked = { tokenId: 't2', ownerId: 'alice', revokedAt: '2026-01-03T00:00:00.000Z' };
    await given('alice', { type: 'AccessTokenRevoked', data: revoked });
    expect([await queries.byHash('hash of t2'), (await queries.ownedBy('alice')).length]).toEqual([undefined, 1]);
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.ownedBy('alice');
    await model.again();
    expect(await queries.ownedBy('alice')).toEqual(before);
    await model.expectSameAfterRebuild();
  });
});
