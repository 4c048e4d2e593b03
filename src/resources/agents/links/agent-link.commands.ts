import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Fingerprints } from '../../../kernel/event-sourcing/fingerprints.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { newId } from '../../../kernel/ids.js';
import { linkTokenHash, linkTokenOf } from '../../../kernel/event-sourcing/link-tokens.js';
import { agent, endLink, shareByLink } from '../agent.decider.js';
import { agentStream } from '../agent.events.js';
import { keep, keptAgents, removeKept } from './kept-agents.decider.js';
import { keptAgentsStream } from './kept-agents.events.js';

/** Gives an agent a link, or ends it. The token in the result is empty if the agent has no link. */
export class ShareAgentByLink extends Command<Readonly<{ token: string; position: bigint | undefined }>> {
  constructor(
    readonly agentId: string,
    readonly ownerId: string,
    readonly wanted: Readonly<{ shared: boolean; sharedBy: string }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ShareAgentByLink)
export class ShareAgentByLinkHandler implements Handler<ShareAgentByLink> {
  constructor(
    private readonly streams: Streams,
    private readonly fingerprints: Fingerprints,
    private readonly clock: Clock,
  ) {}

  async execute({ agentId, ownerId, wanted: { shared, sharedBy }, cause }: ShareAgentByLink) {
    const linkId = newId();
    const link = { linkId, tokenHash: linkTokenHash(linkTokenOf(this.fingerprints, 'agent-link', linkId)) };
    const decision = shared ? shareByLink(ownerId, link, sharedBy, this.clock.now()) : endLink(ownerId);
    const { state, position } = await this.streams.transact(agentStream(agentId), agent, decision, cause);
    return { token: state.linkId === null ? '' : linkTokenOf(this.fingerprints, 'agent-link', state.linkId), position };
  }
}

/** Adds an agent that a user has opened by its link to the user's list of shared agents, or removes it from the list. */
export class KeepAgent extends Command<bigint | undefined> {
  constructor(
    readonly userId: string,
    readonly agentId: string,
    /** Null removes the agent from the list. */
    readonly linkId: string | null,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(KeepAgent)
export class KeepAgentHandler implements Handler<KeepAgent> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ userId, agentId, linkId, cause }: KeepAgent): Promise<bigint | undefined> {
    const decision = linkId === null ? removeKept(userId, agentId) : keep(userId, agentId, linkId, this.clock.now());
    return (await this.streams.transact(keptAgentsStream(userId), keptAgents, decision, cause)).position;
  }
}
