import { Queries } from '../read-models.js';

/** Other users' agents that users have kept from links that are still open. */
export class KeptAgentQueries extends Queries {
  /** The agents among these that a user has kept. */
  async keptAmong(userId: string, agentIds: readonly string[]): Promise<readonly string[]> {
    if (agentIds.length === 0) return [];
    const rows = await this.sql<{ id: string }[]>`
      select kept.agent_id as id from agents.kept_agent kept
        join agents.agent_link link on link.agent_id = kept.agent_id and link.link_id = kept.link_id
      where kept.user_id = ${userId} and kept.agent_id = any (${agentIds as string[]}::text[])`;
    return rows.map(({ id }) => id);
  }
}
