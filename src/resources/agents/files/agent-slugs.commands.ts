import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { AgentId } from '../agent.events.js';
import { agentSlugs, release, reserve, slugFor } from './agent-slugs.decider.js';
import { agentSlugsStream } from './agent-slugs.events.js';

/** An agent is to have a slug of its own among its owner's agents. Resolves to the slug. */
export class ReserveAgentSlug extends Command<string> {
  constructor(
    readonly ownerId: string,
    readonly agentId: AgentId,
    readonly wanted: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ReserveAgentSlug)
export class ReserveAgentSlugHandler implements Handler<ReserveAgentSlug> {
  constructor(private readonly streams: Streams) {}

  async execute({ ownerId, agentId, wanted, cause }: ReserveAgentSlug): Promise<string> {
    const decision = reserve(ownerId, agentId, wanted);
    const { state } = await this.streams.transact(agentSlugsStream(ownerId), agentSlugs, decision, cause);
    return slugFor(state, agentId, wanted);
  }
}

/** An agent gives up its slugs, but for the one that it goes by. */
export class ReleaseAgentSlugs extends Command {
  constructor(
    readonly ownerId: string,
    readonly agentId: AgentId,
    /** Undefined: the agent is gone. */
    readonly kept: string | undefined,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ReleaseAgentSlugs)
export class ReleaseAgentSlugsHandler implements Handler<ReleaseAgentSlugs> {
  constructor(private readonly streams: Streams) {}

  async execute({ ownerId, agentId, kept, cause }: ReleaseAgentSlugs): Promise<void> {
    await this.streams.transact(agentSlugsStream(ownerId), agentSlugs, release(ownerId, agentId, kept), cause);
  }
}
