import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { AgentId } from '../agent.events.js';
import { agentSlugs, release, reserve, slugFor } from './agent-slugs.decider.js';
import { agentSlugsStream } from './agent-slugs.events.js';

/** Reserves a slug for an agent that no other agent of its owner has. Resolves to the slug. */
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

/** Releases all slugs of an agent except `kept`. */
export class ReleaseAgentSlugs extends Command {
  constructor(
    readonly ownerId: string,
    readonly agentId: AgentId,
    /** Undefined if the agent has been deleted or was not created. */
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
