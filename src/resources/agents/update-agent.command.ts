import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { AccessibleReferences } from './accessible-references.js';
import { agent, type AgentChange, update } from './agent.decider.js';
import { type AgentId, agentStream } from './agent.events.js';
import type { AgentMade } from './create-agent.command.js';
import { freshKey } from './issued-key.js';

/** An agent's owner changes it, publishes it or takes it back to a draft. */
export class UpdateAgent extends Command<AgentMade> {
  constructor(
    readonly agentId: AgentId,
    readonly ownerId: string,
    readonly change: Pick<AgentChange, 'changes' | 'status' | 'expectedUpdatedAt'>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(UpdateAgent)
export class UpdateAgentHandler implements ICommandHandler<UpdateAgent> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly references: AccessibleReferences,
  ) {}

  async execute({ agentId, ownerId, change, cause }: UpdateAgent): Promise<AgentMade> {
    const { key, issued } = freshKey();
    const inaccessible = await this.references.inaccessible(ownerId, change.changes);
    const decision = update(ownerId, { ...change, inaccessible, key: issued, now: this.clock.now() });
    const { state, position } = await this.streams.transact(agentStream(agentId), agent, decision, cause);
    return { agentId, key: state.keyId === issued.keyId ? key : '', position };
  }
}
