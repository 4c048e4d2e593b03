import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { reached } from '../../resources/identity/access.policy.js';
import type { SignedInUser } from '../../resources/identity/caller.js';

const agentNotFound = () => new Rejection('agent-not-found', 'Agent not found');

/** The agent whose numbers or logs a request asks for. */
@Injectable()
export class OwnAgent {
  constructor(
    private readonly agents: AgentQueries,
    private readonly freshness: Freshness,
    private readonly lastWrites: LastWrites,
  ) {}

  /**
   * The agent's id, after the read models include the user's own writes. Undefined if the request names no agent.
   * @throws Rejection agent-not-found
   */
  async namedBy(
    user: SignedInUser,
    agentId: string | null | undefined,
    readModels: readonly string[],
  ): Promise<string | undefined> {
    await this.freshness.reached(['agents', ...readModels], this.lastWrites.of(user.userId));
    if (!agentId) return undefined;
    return reached(user, isId(agentId) ? await this.agents.byId(agentId) : undefined, agentNotFound, 'agents').id;
  }
}
