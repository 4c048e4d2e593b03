import { Injectable } from '@nestjs/common';
import { Rejection } from '../../kernel/rejection.js';
import { CredentialsMissing, CredentialsUnreadable, CredentialVault } from '../../platform/credentials/credential-vault.port.js';
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

  /** @throws Rejection webhook-unreadable if the token was encrypted with another key */
  async reveal(ownerId: string, { credentialsId }: AgentWebhook): Promise<string> {
    try {
      return (await this.vault.reveal(ownerId, credentialsId))['token']!;
    } catch (error) {
      throw error instanceof CredentialsMissing || error instanceof CredentialsUnreadable ? unreadable() : error;
    }
  }

  /** Deletes a token that is no longer needed. An error is ignored, because a token that remains opens nothing. */
  async delete(ownerId: string, { credentialsId }: AgentWebhook): Promise<void> {
    await this.vault.delete(ownerId, credentialsId).catch(() => undefined);
  }
}

/** Only the hash of the token is left, by which the webhook still recognises its URL. */
const unreadable = () =>
  new Rejection(
    'webhook-unreadable',
    'The URL of this webhook cannot be shown any more, because its stored token cannot be read. The URL itself still works.',
  );
