import { Injectable } from '@nestjs/common';
import { type Codec, decode } from '../../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { CredentialVault } from '../../../platform/credentials/credential-vault.port.js';
import { customModelCodec } from './custom-model.codec.js';
import { customModel } from './custom-model.decider.js';
import type { CustomModelChanged, CustomModelDeleted, CustomModelEvent } from './custom-model.events.js';

type Followed = CustomModelChanged | CustomModelDeleted;

/**
 * Purges the keys that a changed custom model no longer uses, and all keys of a deleted one. Steps: fold the stream up to the
 * event; delete each key that the model had before. A crash in between repeats both steps; deleting a key twice is harmless.
 */
@Injectable()
export class PurgeCustomModelKeys implements Reaction<Followed> {
  readonly name = 'purge-custom-model-keys';
  readonly categories = ['customModel'];
  readonly codec: Codec<Followed> = customModelCodec;
  readonly on = {
    CustomModelChanged: (event: Recorded<Followed>) => this.purge(event),
    CustomModelDeleted: (event: Recorded<Followed>) => this.purge(event),
  };

  constructor(
    private readonly store: EventStore,
    private readonly vault: CredentialVault,
  ) {}

  private async purge({ stream, revision }: Recorded<Followed>): Promise<void> {
    let state = customModel.initial;
    const had = new Set<string>();
    for await (const page of this.store.read(stream)) {
      for (const stored of page) {
        const event = stored.revision <= revision && decode<CustomModelEvent>(customModelCodec, stored);
        if (!event) continue;
        state = customModel.evolve(state, event);
        if (state.definition) had.add(state.definition.credentialsId);
      }
    }
    if (state.status === 'there' && state.definition) had.delete(state.definition.credentialsId);
    for (const credentialsId of had) await this.vault.delete(state.ownerId, credentialsId);
  }
}
