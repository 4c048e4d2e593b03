import { expect, it, jest } from '@jest/globals';
import { MemoryCredentialVault } from '../../../test/support/memory-credential-vault.js';
import { CredentialsMissing, CredentialsUnreadable } from '../../platform/credentials/credential-vault.port.js';
import { WebhookTokens } from './webhook-tokens.js';

it.each([CredentialsMissing, CredentialsUnreadable])(
  'a token that cannot be read is refused with the reason: %p',
  async (kind) => {
    const vault = new MemoryCredentialVault();
    jest.spyOn(vault, 'reveal').mockRejectedValue(new kind('Another key.'));
    await expect(new WebhookTokens(vault).reveal('alice', { hash: 'h', credentialsId: 'c' })).rejects.toMatchObject({
      code: 'webhook-unreadable',
    });
  },
);
