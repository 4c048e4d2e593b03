import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { agent, pin, unpin } from './agent.decider.js';
import { type AgentId, agentStream } from './agent.events.js';

/** A user puts an agent among those they see first, or takes it away from there. */
export class PinAgent extends Command<bigint | undefined> {
  constructor(
    readonly agentId: AgentId,
    readonly userId: string,
    readonly pinned: boolean,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PinAgent)
export class PinAgentHandler implements ICommandHandler<PinAgent> {
  constructor(private readonly streams: Streams) {}

  async execute({ agentId, userId, pinned, cause }: PinAgent): Promise<bigint | undefined> {
    const decision = pinned ? pin(userId) : unpin(userId);
    return (await this.streams.transact(agentStream(agentId), agent, decision, cause)).position;
  }
}
