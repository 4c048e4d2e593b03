import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { AgentKeyDirectory, type AgentKeyHolder } from '../identity/agent-key-directory.port.js';

/** Looks up agents by the hashes of their keys. The hash that the index found is compared once more in constant time. */
@Injectable()
export class StoredAgentKeys extends AgentKeyDirectory {
  constructor(private readonly agents: AgentQueries) {
    super();
  }

  async byHash(hash: string): Promise<AgentKeyHolder | undefined> {
    const agent = await this.agents.byKeyHash(hash);
    if (!agent?.key || !same(agent.key.hash, hash)) return undefined;
    const { restrict_origins: isRestricted, allowed_origins: allowed = [] } = agent.configuration.config;
    const origins = isRestricted ? allowed : null;
    return { agentId: agent.id, ownerId: agent.ownerId, keyId: agent.key.keyId, isDraft: agent.status === 'draft', origins };
  }

  async isCurrent(agentId: string, keyId: string): Promise<boolean> {
    const agent = await this.agents.byId(agentId);
    return agent?.key?.keyId === keyId && agent.status !== 'draft';
  }
}

const same = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
