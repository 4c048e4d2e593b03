import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { agent, mintWebhook } from './agent.decider.js';
import { type AgentId, agentStream, type AgentWebhook } from './agent.events.js';
import { WebhookTokens } from './webhook-tokens.js';

/** The webhook of an agent that was made before there were any; the same for all who ask. */
export class MintAgentWebhook extends Command<Readonly<{ webhook: AgentWebhook; position: bigint | undefined }>> {
  constructor(
    readonly agentId: AgentId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(MintAgentWebhook)
export class MintAgentWebhookHandler implements ICommandHandler<MintAgentWebhook> {
  constructor(
    private readonly streams: Streams,
    private readonly webhookTokens: WebhookTokens,
  ) {}

  async execute({ agentId, ownerId, cause }: MintAgentWebhook) {
    const { state, position } = await this.webhookTokens.minting(ownerId, (webhook) =>
      this.streams.transact(agentStream(agentId), agent, mintWebhook(ownerId, webhook), cause),
    );
    return { webhook: state.webhook!, position };
  }
}
