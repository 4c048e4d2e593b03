import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { agent, regenerateKey } from './agent.decider.js';
import { type AgentId, agentStream } from './agent.events.js';
import type { AgentMade } from './create-agent.command.js';
import { freshKey } from './issued-key.js';

/** An agent's owner no longer trusts its key: the old one ends with the new one's beginning. */
export class RegenerateAgentKey extends Command<AgentMade> {
  constructor(
    readonly agentId: AgentId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RegenerateAgentKey)
export class RegenerateAgentKeyHandler implements ICommandHandler<RegenerateAgentKey> {
  constructor(private readonly streams: Streams) {}

  async execute({ agentId, ownerId, cause }: RegenerateAgentKey): Promise<AgentMade> {
    const { key, issued } = freshKey();
    const { position } = await this.streams.transact(agentStream(agentId), agent, regenerateKey(ownerId, issued), cause);
    return { agentId, key, position };
  }
}
