import { Injectable } from '@nestjs/common';
import {
  CredentialsMissing,
  CredentialsUnreadable,
  CredentialVault,
} from '../../../platform/credentials/credential-vault.port.js';
import { API_KEY } from './custom-model.policy.js';

/** The keys of custom models. They leave the vault for the endpoint that they are for, and for nothing else. */
@Injectable()
export class StoredModelKeys {
  constructor(private readonly vault: CredentialVault) {}

  /** Undefined where it is gone, or was sealed with another secret. */
  async reveal(ownerId: string, credentialsId: string): Promise<string | undefined> {
    try {
      return (await this.vault.reveal(ownerId, credentialsId))[API_KEY];
    } catch (error) {
      if (error instanceof CredentialsMissing || error instanceof CredentialsUnreadable) return undefined;
      throw error;
    }
  }
}
