import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../test/support/given.js';
import { type AccessTokens, accessTokens, create, regenerate, revoke } from './access-tokens.decider.js';
import type { AccessTokensEvent } from './access-tokens.events.js';

const now = new Date('2026-01-01T00:00:00.000Z');
const later = '2026-02-01T00:00:00.000Z';
const wish = { name: 'CI', scopes: ['chat:run'], resources: {}, expiresAt: later } as const;
const secret = { hash: 'h1', prefix: 'dgpt_pat_abcdef' };
const next = { hash: 'h2', prefix: 'dgpt_pat_ghijkl' };
const made = (tokenId: string, name = 'CI', expiresAt: string | null = later): AccessTokensEvent => ({
  type: 'AccessTokenCreated',
  data: { tokenId, ownerId: 'alice', ...wish, name, secret, createdAt: now.toISOString(), expiresAt },
});
const revoked = (tokenId: string): AccessTokensEvent => ({
  type: 'AccessTokenRevoked',
  data: { tokenId, ownerId: 'alice', revokedAt: now.toISOString() },
});

describe('a token', () => {
  it('is created with the requested properties', () =>
    given(accessTokens, [])
      .when(create('t1', 'alice', wish, secret, 2, now))
      .then([made('t1')]));

  it('has a unique name, which is free again after the token is revoked', () => {
    given(accessTokens, [made('t1')])
      .when(create('t2', 'alice', wish, secret, 2, now))
      .thenRejected('access-token-name-taken');
    given(accessTokens, [made('t1'), revoked('t1')])
      .when(create('t2', 'alice', wish, secret, 2, now))
      .then([made('t2')]);
  });

  it('is refused beyond the maximum number, which revoked and expired tokens do not count for', () => {
    const another = create('t3', 'alice', wish, secret, 2, now);
    given(accessTokens, [made('t1', 'A'), made('t2', 'B')])
      .when(another)
      .thenRejected('too-many-access-tokens');
    given(accessTokens, [made('t1', 'A'), made('t2', 'B'), revoked('t2')])
      .when(another)
      .then([made('t3')]);
    given(accessTokens, [made('t1', 'A'), made('t2', 'B', now.toISOString())])
      .when(another)
      .then([made('t3')]);
    given(accessTokens, [made('t1', 'A', null), made('t2', 'B')])
      .when(another)
      .thenRejected('too-many-access-tokens');
  });

  it('gets a new secret, and counts again if it had expired', () => {
    const regenerated: AccessTokensEvent = {
      type: 'AccessTokenRegenerated',
      data: { tokenId: 't1', ownerId: 'alice', secret: next, regeneratedAt: now.toISOString(), expiresAt: later },
    };
    given(accessTokens, [made('t1', 'A', now.toISOString())])
      .when(regenerate('t1', next, later, 1, now))
      .then([regenerated]);
    given(accessTokens, [made('t1', 'A', now.toISOString()), made('t2', 'B')])
      .when(regenerate('t1', next, later, 1, now))
      .thenRejected('too-many-access-tokens');
  });

  it.each([
    ['revoked', revoke('t1', now)],
    ['regenerated', regenerate('t1', next, later, 2, now)],
  ])('that is unknown or revoked is not %s', (_, decide) => {
    given(accessTokens, []).when(decide).thenRejected('access-token-not-found');
    given(accessTokens, [made('t1'), revoked('t1')])
      .when(decide)
      .thenRejected('access-token-not-found');
  });
});

it('any sequence of decisions keeps names unique, the number limited and revoked tokens revoked', () => {
  const id = fc.constantFrom('t1', 't2', 't3', 't4');
  const expiresAt = fc.constantFrom(later, null);
  const decision = fc.oneof(
    fc.tuple(id, fc.constantFrom('A', 'B', 'C'), expiresAt).map(([tokenId, name, ends]) => ({
      made: tokenId,
      decide: create(tokenId, 'alice', { ...wish, name, expiresAt: ends }, secret, 2, now),
    })),
    fc.tuple(id, expiresAt).map(([tokenId, ends]) => ({ made: undefined, decide: regenerate(tokenId, next, ends, 2, now) })),
    id.map((tokenId) => ({ made: undefined, decide: revoke(tokenId, now) })),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 15 }), (decisions) => {
      let state: AccessTokens = accessTokens.initial;
      const [used, gone] = [new Set<string>(), new Set<string>()];
      for (const { made: tokenId, decide } of decisions) {
        // Real ids are random, so none is used twice.
        if (tokenId !== undefined && used.has(tokenId)) continue;
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        for (const event of events) {
          used.add(event.data.tokenId);
          if (event.type === 'AccessTokenRevoked') gone.add(event.data.tokenId);
          state = accessTokens.evolve(state, event);
        }
        const standing = [...state.tokens.values()];
        expect(standing.length).toBeLessThanOrEqual(2);
        expect(new Set(standing.map(({ name }) => name)).size).toBe(standing.length);
        expect(standing.some((token) => gone.has(token.id))).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});
