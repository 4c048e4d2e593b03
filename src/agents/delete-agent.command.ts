import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../kernel/events.js';
import { Streams } from '../kernel/streams.js';
import { agent, remove } from './agent.decider.js';
import { type AgentId, agentStream } from './agent.events.js';

/** An agent's owner ends it, and its key with it. */
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
  constructor(private readonly streams: Streams) {}

  async execute({ agentId, ownerId, cause }: DeleteAgent): Promise<bigint | undefined> {
    return (await this.streams.transact(agentStream(agentId), agent, remove(ownerId), cause)).position;
  }
}
