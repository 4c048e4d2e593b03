import { Queries } from '../read-models.js';

/** The names of agents, without the rest of their configuration. */
export class AgentNameQueries extends Queries {
  /** The names of a user's agents by agent id. */
  async ownedBy(ownerId: string): Promise<ReadonlyMap<string, string>> {
    const rows = await this.sql<{ id: string; name: string }[]>`
      select agent_id as id, configuration ->> 'name' as name from agents.agent where owner_id = ${ownerId}`;
    return new Map(rows.map(({ id, name }) => [id, name]));
  }
}
