import { Injectable } from '@nestjs/common';
import { Rejection } from '../../kernel/rejection.js';
import { CredentialVault } from '../../platform/credentials/credential-vault.port.js';
import type { Agent } from './agent.decider.js';
import type { AgentWebhook } from './agent.events.js';
import { newWebhookToken, webhookTokenHash } from './webhook-token.policy.js';

/** Stores the tokens of agents' webhooks, encrypted with the secrets of their owners, because their URLs can be shown again. */
@Injectable()
export class WebhookTokens {
  constructor(private readonly vault: CredentialVault) {}

  /** Stores a new token and calls `state` to append it. Deletes the token if it did not become the agent's. */
  async minting<T extends Readonly<{ state: Agent }>>(ownerId: string, state: (webhook: AgentWebhook) => Promise<T>): Promise<T> {
    const token = newWebhookToken();
    const webhook = { hash: webhookTokenHash(token), credentialsId: await this.vault.keep(ownerId, { token }) };
    const outcome = await state(webhook).catch(async (error: unknown) => {
      if (error instanceof Rejection) await this.delete(ownerId, webhook);
      throw error;
    });
    if (outcome.state.webhook?.credentialsId !== webhook.credentialsId) await this.delete(ownerId, webhook);
    return outcome;
  }

  /** @throws CredentialsMissing, CredentialsUnreadable */
  async reveal(ownerId: string, { credentialsId }: AgentWebhook): Promise<string> {
    return (await this.vault.reveal(ownerId, credentialsId))['token']!;
  }

  /** Deletes a token that is no longer needed. An error is ignored, because a token that remains opens nothing. */
  async delete(ownerId: string, { credentialsId }: AgentWebhook): Promise<void> {
    await this.vault.delete(ownerId, credentialsId).catch(() => undefined);
  }
}
