import { Injectable } from '@nestjs/common';
import { type Codec, decode } from '../../../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../../kernel/event-sourcing/reaction.js';
import { CredentialVault } from '../../../../platform/credentials/credential-vault.port.js';
import { oauthCodec } from './oauth.codec.js';
import type { OAuthEvent } from './oauth.events.js';
import { secretsLeft } from './sign-in-secrets.policy.js';

type Followed = Extract<
  OAuthEvent,
  { type: 'OAuthGranted' | 'OAuthHandshakeFailed' | 'OAuthTokensRefreshed' | 'OAuthGrantLost' }
>;

/**
 * Of a sign-in that is over only the tokens that count are kept, whatever became of the request that ended it. Steps: read
 * the sign-in; purge each secret that is needed no longer. A crash in between repeats it, and what is purged stays so.
 */
@Injectable()
export class PurgeSignInSecrets implements Reaction<Followed> {
  readonly name = 'purge-sign-in-secrets';
  readonly categories = ['oauth'];
  readonly codec: Codec<Followed> = oauthCodec;
  readonly on = {
    OAuthGranted: (event: Recorded<Followed>) => this.purge(event),
    OAuthHandshakeFailed: (event: Recorded<Followed>) => this.purge(event),
    OAuthTokensRefreshed: (event: Recorded<Followed>) => this.purge(event),
    OAuthGrantLost: (event: Recorded<Followed>) => this.purge(event),
  };

  constructor(
    private readonly store: EventStore,
    private readonly vault: CredentialVault,
  ) {}

  private async purge({ stream, revision }: Recorded<Followed>): Promise<void> {
    const events: OAuthEvent[] = [];
    for await (const page of this.store.read(stream)) {
      for (const stored of page) {
        const event = stored.revision <= revision && decode<OAuthEvent>(oauthCodec, stored);
        if (event) events.push(event);
      }
    }
    const { ownerId, left } = secretsLeft(events);
    for (const credentialsId of left) await this.vault.delete(ownerId, credentialsId);
  }
}
