import { expect, it } from '@jest/globals';
import { CountedReads } from '../../../../../test/support/counted-reads.js';
import { MemoryCredentialVault } from '../../../../../test/support/memory-credential-vault.js';
import { decode } from '../../../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../../platform/system-timing.js';
import { oauthCodec } from './oauth.codec.js';
import { type OAuthEvent, type OAuthTokensRefreshed, oauthStream } from './oauth.events.js';
import { PurgeSignInSecrets } from './purge-sign-in-secrets.reaction.js';

class WatchedVault extends MemoryCredentialVault {
  readonly deleted: string[] = [];

  override async delete(ownerId: string, credentialsId: string): Promise<void> {
    this.deleted.push(`${credentialsId} of ${ownerId}`);
  }
}

const handshakeId = 'h';
const stream = oauthStream(handshakeId);
const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;

it('the hundredth renewal deletes only the tokens before it, without reading the whole stream', async () => {
  const store = new CountedReads();
  const streams = new Streams(store, systemTiming);
  const vault = new WatchedVault();
  const reaction = new PurgeSignInSecrets(store, vault);
  const refreshed = (number: number): OAuthEvent => ({
    type: 'OAuthTokensRefreshed',
    data: { handshakeId, credentialsId: `tokens-${number}` },
  });
  const events: OAuthEvent[] = [
    { type: 'OAuthHandshakeStarted', data: { handshakeId, ownerId: 'ann', serverUrl: '', startedAt: '', expiresAt: '' } },
    { type: 'OAuthSignInAwaited', data: { handshakeId, authorizationUrl: '', stateHash: '', pendingId: 'pending' } },
    { type: 'OAuthSignInReturned', data: { handshakeId } },
    { type: 'OAuthGranted', data: { handshakeId, credentialsId: 'tokens-0', tools: [] } },
    ...Array.from({ length: 100 }, (_, index) => refreshed(index + 1)),
  ];
  await streams.append(stream, 'none', oauthCodec, events, cause);
  store.events = 0;
  await reaction.on.OAuthTokensRefreshed(decode<OAuthTokensRefreshed>(oauthCodec, (await lastEvent(store, stream))!)!);
  expect(vault.deleted).toEqual(['tokens-99 of ann']);
  expect(store.events).toBeLessThan(events.length);
});
