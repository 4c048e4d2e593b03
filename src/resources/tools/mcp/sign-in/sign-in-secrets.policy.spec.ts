import { expect, it } from '@jest/globals';
import type { OAuthEvent } from './oauth.events.js';
import { secretsLeft } from './sign-in-secrets.policy.js';

const handshakeId = 'h';
const awaited: OAuthEvent = {
  type: 'OAuthSignInAwaited',
  data: { handshakeId, authorizationUrl: '', stateHash: '', pendingId: 'pending' },
};
const granted: OAuthEvent = { type: 'OAuthGranted', data: { handshakeId, credentialsId: 'first', tools: [] } };
const refreshed: OAuthEvent = { type: 'OAuthTokensRefreshed', data: { handshakeId, credentialsId: 'second' } };

it.each<[string, readonly OAuthEvent[], readonly string[]]>([
  ['that failed before its owner was asked', [{ type: 'OAuthHandshakeFailed', data: { handshakeId, reason: '' } }], []],
  ['that is awaited', [awaited], []],
  ['that failed', [awaited, { type: 'OAuthHandshakeFailed', data: { handshakeId, reason: '' } }], ['pending']],
  ['that was granted', [awaited, granted], ['pending']],
  ['whose tokens were renewed', [awaited, granted, refreshed], ['pending', 'first']],
  ['whose tokens were renewed, read from the grant on', [granted, refreshed], ['first']],
  [
    'whose grant was lost',
    [awaited, granted, refreshed, { type: 'OAuthGrantLost', data: { handshakeId, reason: '' } }],
    ['pending', 'first', 'second'],
  ],
])('the secrets of a sign-in %s are deleted if no longer needed', (_, events, left) => expect(secretsLeft(events)).toEqual(left));
