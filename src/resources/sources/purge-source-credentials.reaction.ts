import { Injectable } from '@nestjs/common';
import { type Codec, decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { CredentialVault } from '../../platform/credentials/credential-vault.port.js';
import { sourceCodec } from './source/source.codec.js';
import type { SourceDeleted, SourceEvent } from './source/source.events.js';

/**
 * Deletes the credentials of a deleted source. Steps: read from the source's stream with which credentials it was created; delete
 * them. After a crash both steps are repeated, which is harmless.
 */
@Injectable()
export class PurgeSourceCredentials implements Reaction<SourceDeleted> {
  readonly name = 'purge-source-credentials';
  readonly categories = ['source'];
  readonly codec: Codec<SourceDeleted> = sourceCodec;
  readonly on = { SourceDeleted: (event: Recorded<SourceDeleted>) => this.purge(event) };

  constructor(
    private readonly store: EventStore,
    private readonly vault: CredentialVault,
  ) {}

  private async purge({ stream }: Recorded<SourceDeleted>): Promise<void> {
    for await (const page of this.store.read(stream)) {
      for (const stored of page) {
        const event = decode<SourceEvent>(sourceCodec, stored);
        if (event?.type !== 'SourceCreated') continue;
        const { ownerId, remote } = event.data;
        if (remote && 'credentialsId' in remote && remote.credentialsId !== null) {
          await this.vault.delete(ownerId, remote.credentialsId);
        }
      }
    }
  }
}
