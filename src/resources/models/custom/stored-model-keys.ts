import { Injectable } from '@nestjs/common';
import {
  CredentialsMissing,
  CredentialsUnreadable,
  CredentialVault,
} from '../../../platform/credentials/credential-vault.port.js';
import { API_KEY } from './custom-model.policy.js';

/** Reads the keys of custom models from the vault, for requests to their endpoints only. */
@Injectable()
export class StoredModelKeys {
  constructor(private readonly vault: CredentialVault) {}

  /** Undefined if the key was deleted or cannot be decrypted with the current secret. */
  async reveal(ownerId: string, credentialsId: string): Promise<string | undefined> {
    try {
      return (await this.vault.reveal(ownerId, credentialsId))[API_KEY];
    } catch (error) {
      if (error instanceof CredentialsMissing || error instanceof CredentialsUnreadable) return undefined;
      throw error;
    }
  }
}
