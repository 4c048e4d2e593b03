import { Injectable } from '@nestjs/common';
import { type Codec, decode } from '../../../../kernel/event-sourcing/codec.js';
import { EventStore, eventsBackwards, firstEvent } from '../../../../kernel/event-sourcing/event-store.js';
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
 * Deletes the secrets of a sign-in that are no longer needed, even if the process crashed in the request that ended it. Steps:
 * read the events since the previous event of these types; delete each secret that they made obsolete. Deleting is idempotent, so
 * the reaction may be repeated.
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
    const first = decode<OAuthEvent>(oauthCodec, (await firstEvent(this.store, stream))!);
    if (first?.type !== 'OAuthHandshakeStarted') return;
    for (const credentialsId of secretsLeft(await this.sinceOneBefore(stream, revision)))
      await this.vault.delete(first.data.ownerId, credentialsId);
  }

  /**
   * The event, and those before it back to the previous event that this reaction handled. A grant may be renewed for years, so
   * its stream is not read whole.
   */
  private async sinceOneBefore(stream: string, revision: number): Promise<readonly OAuthEvent[]> {
    const events: OAuthEvent[] = [];
    for await (const stored of eventsBackwards(this.store, stream, { from: revision })) {
      const event = decode<OAuthEvent>(oauthCodec, stored);
      if (event) events.unshift(event);
      if (stored.revision < revision && stored.type in this.on) break;
    }
    return events;
  }
}
