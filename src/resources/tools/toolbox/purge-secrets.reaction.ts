import { Injectable } from '@nestjs/common';
import { type Codec, decode } from '../../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { CredentialVault } from '../../../platform/credentials/credential-vault.port.js';
import { toolCodec } from './tool.codec.js';
import type { ToolDeleted, ToolEvent } from './tool.events.js';

/**
 * Deletes all secrets of a deleted tool, even if the process crashed in the request that deleted it. Steps: read the tool's
 * stream; delete each set of credentials that it ever had. Deleting is idempotent, so the reaction may be repeated.
 */
@Injectable()
export class PurgeSecrets implements Reaction<ToolDeleted> {
  readonly name = 'purge-secrets';
  readonly categories = ['tool'];
  readonly codec: Codec<ToolDeleted> = toolCodec;
  readonly on = { ToolDeleted: (event: Recorded<ToolDeleted>) => this.purge(event) };

  constructor(
    private readonly store: EventStore,
    private readonly vault: CredentialVault,
  ) {}

  private async purge({ stream }: Recorded<ToolDeleted>): Promise<void> {
    let ownerId = '';
    for await (const page of this.store.read(stream)) {
      for (const stored of page) {
        const event = decode<ToolEvent>(toolCodec, stored);
        if (event?.type === 'ToolCreated') ({ ownerId } = event.data);
        const credentialsId = event && credentialsIn(event);
        if (credentialsId) await this.vault.delete(ownerId, credentialsId);
      }
    }
  }
}

function credentialsIn(event: ToolEvent): string | null | undefined {
  if (event.type === 'ToolCreated') return event.data.definition.credentialsId;
  return event.type === 'ToolChanged' ? event.data.changes.credentialsId : undefined;
}
