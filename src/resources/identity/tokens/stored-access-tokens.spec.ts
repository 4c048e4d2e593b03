import { beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { AccessTokenQueries } from '../../../../projections/access-tokens/access-tokens.queries.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { cause } from '../../../../test/support/turns.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { CredentialUses } from '../../../platform/credentials/credential-uses.port.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { AccessTokenRules } from './access-token.commands.js';
import { freshAccessToken } from './access-token.policy.js';
import { type AccessTokens, accessTokens, create, regenerate, revoke } from './access-tokens.decider.js';
import { type AccessTokensEvent, accessTokensStream, type IssuedSecret } from './access-tokens.events.js';
import { StoredAccessTokens } from './stored-access-tokens.js';

// A failure to record a use is logged.
Logger.overrideLogger(false);

const rules = { enabled: true, defaultLifetimeDays: 90, maxLifetimeDays: 365, allowNonExpiring: false, maxPerUser: 25 };
const wish = { name: 'CI', scopes: ['chat:run'], resources: { agents: ['a1'] } } as const;
const stream = accessTokensStream('alice');

let now: Date;
let streams: Streams;
/** The content of the read model, which may be behind: token ids by hash. */
let shown: Map<string, string>;
let noted: unknown[][];
let failing: boolean;

const directory = (enabled = true) => {
  const queries = {
    byHash: async (hash: string) => (shown.has(hash) ? { id: shown.get(hash)!, ownerId: 'alice' } : undefined),
  } as unknown as AccessTokenQueries;
  const uses = {
    note: async (...use: unknown[]) => {
      noted.push(use);
      if (failing) throw new Error('away');
    },
  } as unknown as CredentialUses;
  return new StoredAccessTokens(queries, streams, { now: () => now }, uses, new AccessTokenRules({ ...rules, enabled }));
};
const stating = (decide: Decision<AccessTokens, AccessTokensEvent>) => streams.transact(stream, accessTokens, decide, cause);

async function made(): Promise<Readonly<{ token: string; secret: IssuedSecret }>> {
  const fresh = freshAccessToken();
  const expiresAt = new Date(now.getTime() + 60_000).toISOString();
  await stating(create('t1', 'alice', { ...wish, expiresAt }, fresh.secret, 25, now));
  shown.set(fresh.secret.hash, 't1');
  return fresh;
}

beforeEach(() => {
  now = new Date('2026-01-01T00:00:00.000Z');
  streams = new Streams(new InMemoryEventStore(), systemTiming);
  shown = new Map();
  [noted, failing] = [[], false];
});

describe('a token', () => {
  it('identifies its user and its grant', async () => {
    const { token } = await made();
    expect(await directory().holderOf(token)).toEqual({
      userId: 'alice',
      grant: { id: 't1', name: 'CI', generation: 1, scopes: ['chat:run'], resources: { agents: ['a1'] } },
    });
  });

  it('that is revoked is refused at once, even if the read model is behind', async () => {
    const { token } = await made();
    const tokens = directory();
    const holder = await tokens.holderOf(token);
    await stating(revoke('t1', now));
    await expect(tokens.holderOf(token)).rejects.toMatchObject({ code: 'invalid-token' });
    expect(await tokens.isValid(holder)).toBe(false);
  });

  it('that is regenerated is refused with its previous secret at once, even if the read model is behind', async () => {
    const { token } = await made();
    const tokens = directory();
    const holder = await tokens.holderOf(token);
    const next = freshAccessToken();
    await stating(regenerate('t1', next.secret, null, 25, now));
    await expect(tokens.holderOf(token)).rejects.toMatchObject({ code: 'invalid-token' });
    expect(await tokens.isValid(holder)).toBe(false);
    shown.set(next.secret.hash, 't1');
    await expect(tokens.holderOf(next.token)).resolves.toMatchObject({ grant: { generation: 2 } });
  });

  it('is refused as expired after its expiry', async () => {
    const { token } = await made();
    const tokens = directory();
    const holder = await tokens.holderOf(token);
    now = new Date(now.getTime() + 60_000);
    await expect(tokens.holderOf(token)).rejects.toMatchObject({ code: 'token-expired' });
    expect(await tokens.isValid(holder)).toBe(false);
  });

  it('is refused if tokens are disabled, and if it is unknown', async () => {
    const { token } = await made();
    await expect(directory(false).holderOf(token)).rejects.toMatchObject({ code: 'invalid-token' });
    await expect(directory().holderOf(freshAccessToken().token)).rejects.toMatchObject({ code: 'invalid-token' });
  });
});

it('uses are recorded once a minute, and a failure to record one is ignored', async () => {
  const tokens = directory();
  failing = true;
  for (let use = 0; use < 3; use++) tokens.noteUse('t1', '203.0.113.1');
  tokens.noteUse('t2', '203.0.113.1');
  now = new Date(now.getTime() + 60_000);
  tokens.noteUse('t1', '203.0.113.2');
  await new Promise(setImmediate);
  expect(noted.map(([id, , address]) => [id, address])).toEqual([
    ['t1', '203.0.113.1'],
    ['t2', '203.0.113.1'],
    ['t1', '203.0.113.2'],
  ]);
});
