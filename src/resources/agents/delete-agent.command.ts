import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { agent, remove } from './agent.decider.js';
import { type AgentId, agentStream } from './agent.events.js';
import { WebhookTokens } from './webhook-tokens.js';

/** An agent's owner ends it, and its key and its webhook with it. */
export class DeleteAgent extends Command<bigint | undefined> {
  constructor(
    readonly agentId: AgentId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteAgent)
export class DeleteAgentHandler implements ICommandHandler<DeleteAgent> {
  constructor(
    private readonly streams: Streams,
    private readonly webhookTokens: WebhookTokens,
  ) {}

  async execute({ agentId, ownerId, cause }: DeleteAgent): Promise<bigint | undefined> {
    const { state, position } = await this.streams.transact(agentStream(agentId), agent, remove(ownerId), cause);
    if (state.webhook) await this.webhookTokens.forget(ownerId, state.webhook);
    return position;
  }
}
