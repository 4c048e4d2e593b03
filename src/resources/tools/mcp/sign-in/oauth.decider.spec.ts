import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../../test/support/given.js';
import {
  awaitSignIn,
  fail,
  failOverdue,
  grant,
  isOverdue,
  lose,
  oauthGrant,
  type OAuthGrant,
  refresh,
  start,
  takeState,
} from './oauth.decider.js';
import type { OAuthEvent } from './oauth.events.js';

const handshakeId = 'h1';
const now = new Date('2026-01-01T00:00:00.000Z');
const late = new Date('2026-01-01T00:10:00.000Z');
const serverUrl = 'https://tools.example/mcp';
const begin = start({ handshakeId, ownerId: 'alice', serverUrl, now, ttlMs: 600_000 });
const signIn = { authorizationUrl: 'https://login.example/?state=s', stateHash: 'hash', pendingId: 'p1' };
const tools = [{ name: 'echo', description: 'Says it again.' }];

const started: OAuthEvent = {
  type: 'OAuthHandshakeStarted',
  data: { handshakeId, ownerId: 'alice', serverUrl, startedAt: now.toISOString(), expiresAt: late.toISOString() },
};
const awaited: OAuthEvent = { type: 'OAuthSignInAwaited', data: { handshakeId, ...signIn } };
const returned: OAuthEvent = { type: 'OAuthSignInReturned', data: { handshakeId } };
const granted: OAuthEvent = { type: 'OAuthGranted', data: { handshakeId, credentialsId: 'c1', tools } };
const failed: OAuthEvent = { type: 'OAuthHandshakeFailed', data: { handshakeId, reason: 'no' } };
const refreshed: OAuthEvent = { type: 'OAuthTokensRefreshed', data: { handshakeId, credentialsId: 'c2' } };
const lost: OAuthEvent = { type: 'OAuthGrantLost', data: { handshakeId, reason: 'revoked' } };

describe('a handshake', () => {
  it('is started once', () => {
    given(oauthGrant, []).when(begin).then([started]);
    given(oauthGrant, [started]).when(begin).thenNothing();
  });
  it('asks its owner to sign in once', () => {
    given(oauthGrant, [started]).when(awaitSignIn(signIn)).then([awaited]);
    given(oauthGrant, [started, awaited]).when(awaitSignIn(signIn)).thenNothing();
    given(oauthGrant, [started, failed]).when(awaitSignIn(signIn)).thenNothing();
  });
  it('accepts its state once, in time, and no other state', () => {
    given(oauthGrant, [started, awaited]).when(takeState('hash', now)).then([returned]);
    given(oauthGrant, [started, awaited, returned]).when(takeState('hash', now)).thenRejected('oauth-state-used');
    given(oauthGrant, [started, awaited]).when(takeState('hash', late)).thenRejected('oauth-state-expired');
    given(oauthGrant, [started, awaited]).when(takeState('other', now)).thenRejected('oauth-handshake-not-found');
    given(oauthGrant, []).when(takeState('', now)).thenRejected('oauth-handshake-not-found');
  });
  it('accepts no state before it has one', () =>
    given(oauthGrant, [started]).when(takeState('', now)).thenRejected('oauth-state-used'));
  it('is granted only after its owner has returned', () => {
    given(oauthGrant, [started, awaited, returned]).when(grant('c1', tools)).then([granted]);
    given(oauthGrant, [started, awaited]).when(grant('c1', tools)).thenNothing();
    given(oauthGrant, [started, awaited, returned, granted]).when(grant('c9', tools)).thenNothing();
  });
  it('fails once, and only while it is open', () => {
    given(oauthGrant, [started, awaited]).when(fail('no')).then([failed]);
    given(oauthGrant, [started, failed]).when(fail('no')).thenNothing();
    given(oauthGrant, [started, awaited, returned, granted]).when(fail('no')).thenNothing();
  });
  it('fails if its owner did not return before a given time', () => {
    const tooLate: OAuthEvent = {
      type: 'OAuthHandshakeFailed',
      data: { handshakeId, reason: 'This sign-in took too long. Please start again.' },
    };
    given(oauthGrant, [started, awaited]).when(failOverdue(now)).thenNothing();
    for (const open of [[started], [started, awaited], [started, awaited, returned]]) {
      given(oauthGrant, open).when(failOverdue(late)).then([tooLate]);
    }
    given(oauthGrant, [started, awaited, returned, granted]).when(failOverdue(late)).thenNothing();
  });
  it('is overdue if its owner did not return in time', () => {
    const open = [started, awaited].reduce(oauthGrant.evolve, oauthGrant.initial);
    expect([isOverdue(open, now), isOverdue(open, late), isOverdue(oauthGrant.evolve(open, failed), late)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe('a grant', () => {
  const past = [started, awaited, returned, granted];
  it('uses new tokens, unless its tokens were replaced or lost before', () => {
    given(oauthGrant, past).when(refresh('c1', 'c2')).then([refreshed]);
    given(oauthGrant, [...past, refreshed])
      .when(refresh('c1', 'c3'))
      .thenNothing();
    given(oauthGrant, [...past, lost])
      .when(refresh('c1', 'c2'))
      .thenNothing();
  });
  it('is lost with its current tokens, not with older ones', () => {
    given(oauthGrant, past).when(lose('c1', 'revoked')).then([lost]);
    given(oauthGrant, [...past, refreshed])
      .when(lose('c1', 'revoked'))
      .thenNothing();
    given(oauthGrant, [...past, lost])
      .when(lose('c1', 'revoked'))
      .thenNothing();
  });
});

it('a repeated decision appends nothing, in any order of decisions', () => {
  const decisions = fc.constantFrom(
    begin,
    awaitSignIn(signIn),
    takeState('hash', now),
    grant('c1', tools),
    fail('no'),
    failOverdue(late),
    refresh('c1', 'c2'),
    lose('c1', 'revoked'),
    lose('c2', 'revoked'),
  );
  fc.assert(
    fc.property(fc.array(decisions, { maxLength: 12 }), (all) => {
      let state: OAuthGrant = oauthGrant.initial;
      for (const decide of all) {
        const ask = () => eventsUnlessRejected(decide, state) ?? [];
        state = ask().reduce(oauthGrant.evolve, state);
        expect(ask()).toEqual([]);
        expect(state.status === 'granted').toBe(state.credentialsId !== '' && state.status !== 'lost');
      }
    }),
  );
});
