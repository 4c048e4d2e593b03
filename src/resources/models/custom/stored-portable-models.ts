import { Injectable } from '@nestjs/common';
import { Rejection } from '../../../kernel/rejection.js';
import { CredentialVault } from '../../../platform/credentials/credential-vault.port.js';
import { AddressRefused, OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { CustomModelDefinition } from './custom-model.events.js';
import { API_KEY, checkedModel, type CheckedModel } from './custom-model.policy.js';
import { ModelNotPortable, type PortableModel, PortableModels } from './portable-models.port.js';
import { cutText } from '../../../kernel/cut-text.js';

const REASON_CHARACTERS_MAX = 300;

/** Stores the keys of imported custom models in the vault. */
@Injectable()
export class StoredPortableModels extends PortableModels {
  constructor(
    private readonly vault: CredentialVault,
    private readonly outgoing: OutgoingHttp,
  ) {
    super();
  }

  async prepare(ownerId: string, model: PortableModel, key: string): Promise<CustomModelDefinition> {
    const { apiKey, ...checked } = checkedPortable(model, key);
    await this.outgoing.check(checked.baseUrl).catch((error: unknown) => {
      throw error instanceof AddressRefused ? new ModelNotPortable('has an unsafe base URL; skipped') : error;
    });
    return { ...checked, credentialsId: await this.vault.keep(ownerId, { [API_KEY]: apiKey }) };
  }

  discard(ownerId: string, { credentialsId }: CustomModelDefinition): Promise<void> {
    return this.vault.delete(ownerId, credentialsId);
  }
}

function checkedPortable(model: PortableModel, apiKey: string): CheckedModel {
  const { display_name: displayName, upstream_model_id: upstreamModelId, base_url: baseUrl, capabilities } = model;
  try {
    return checkedModel({ displayName, upstreamModelId, baseUrl, capabilities, apiKey, description: '', enabled: true });
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    throw new ModelNotPortable(`cannot be added: ${cutText(error.message, REASON_CHARACTERS_MAX)}; skipped`);
  }
}
