import type { Row } from 'postgres';
import type { AgentConfiguration, AgentStatus, AgentWebhook } from '../../src/resources/agents/agent.events.js';
import { Queries } from '../read-models.js';

/** The current state of an agent. The log and this record hold only hashes of the secrets of its key and its webhook. */
export type AgentRecord = Readonly<{
  id: string;
  ownerId: string;
  status: AgentStatus;
  configuration: AgentConfiguration;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt: Date | null;
  key: Readonly<{ keyId: string; hash: string; masked: string }> | null;
  /** Null for an agent that is older than webhooks until its webhook is first requested. */
  webhook: AgentWebhook | null;
  link: Readonly<{ linkId: string; sharedBy: string; sharedAt: Date }> | null;
}>;

export class AgentQueries extends Queries {
  async byId(agentId: string): Promise<AgentRecord | undefined> {
    return this.readModels.remembered('agents', `id ${agentId}`, async () => {
      const rows = await this.sql`${this.agents} where agent.agent_id = ${agentId}`;
      return rows.map(asRecord)[0];
    });
  }

  async byKeyHash(keyHash: string): Promise<AgentRecord | undefined> {
    return this.readModels.remembered('agents', `key ${keyHash}`, async () => {
      const rows = await this.sql`${this.agents} where agent_key.key_hash = ${keyHash}`;
      return rows.map(asRecord)[0];
    });
  }

  async byWebhookHash(tokenHash: string): Promise<AgentRecord | undefined> {
    return this.readModels.remembered('agents', `webhook ${tokenHash}`, async () => {
      const rows = await this.sql`${this.agents} where agent_webhook.token_hash = ${tokenHash}`;
      return rows.map(asRecord)[0];
    });
  }

  /** The agents with these ids that exist, oldest first. */
  async among(agentIds: readonly string[]): Promise<readonly AgentRecord[]> {
    if (agentIds.length === 0) return [];
    const rows = await this.sql`${this.agents} where agent.agent_id = any (${agentIds as string[]}::text[])
      order by agent.created_at, agent.agent_id`;
    return rows.map(asRecord);
  }

  async byLinkHash(tokenHash: string): Promise<AgentRecord | undefined> {
    const rows = await this.sql`${this.agents} where agent_link.token_hash = ${tokenHash}`;
    return rows.map(asRecord)[0];
  }

  /** Other users' agents that a user has kept from links that are still open, the most recently kept first. */
  async keptBy(userId: string): Promise<readonly AgentRecord[]> {
    const rows = await this.sql`${this.agents} join agents.kept_agent kept
        on kept.agent_id = agent.agent_id and kept.link_id = agent_link.link_id
      where kept.user_id = ${userId} order by kept.kept_at desc, agent.agent_id`;
    return rows.map(asRecord);
  }

  /** A user's own agents, oldest first. */
  async ownedBy(userId: string): Promise<readonly AgentRecord[]> {
    const rows = await this.sql`${this.agents} where agent.owner_id = ${userId} order by agent.created_at, agent.agent_id`;
    return rows.map(asRecord);
  }

  /** A user's own agents that use a workflow, oldest first. */
  async usingWorkflow(userId: string, workflowId: string): Promise<readonly AgentRecord[]> {
    const rows = await this.sql`${this.agents} where agent.owner_id = ${userId}
      and agent.configuration ->> 'workflowId' = ${workflowId} order by agent.created_at, agent.agent_id`;
    return rows.map(asRecord);
  }

  /**
   * The agents that a user has pinned, oldest pin first. The caller checks whether the user still has access to other users'
   * agents.
   */
  async pinnedBy(userId: string): Promise<readonly AgentRecord[]> {
    const rows = await this.sql`${this.agents} join agents.agent_pin pin on pin.agent_id = agent.agent_id
      where pin.user_id = ${userId} order by pin.pinned_at, agent.agent_id`;
    return rows.map(asRecord);
  }

  /** The ids of the agents that a user has pinned. */
  async pinsOf(userId: string): Promise<ReadonlySet<string>> {
    const rows = await this.sql<{ id: string }[]>`select agent_id as id from agents.agent_pin where user_id = ${userId}`;
    return new Set(rows.map(({ id }) => id));
  }

  async isPinned(agentId: string, userId: string): Promise<boolean> {
    const rows = await this.sql`select from agents.agent_pin where agent_id = ${agentId} and user_id = ${userId}`;
    return rows.length > 0;
  }

  private get agents() {
    return this.sql`select agent.*, agent_key.key_id, agent_key.key_hash, agent_key.masked, agent_use.last_used_at,
        agent_webhook.token_hash, agent_webhook.credentials_id, agent_link.link_id, agent_link.shared_by, agent_link.shared_at, folder.folder_id
      from agents.agent left join agents.agent_key using (agent_id) left join agents.agent_use using (agent_id)
        left join agents.agent_webhook using (agent_id) left join agents.agent_link using (agent_id)
        left join agents.agent_folder folder
          on folder.folder_id = agent.configuration ->> 'folderId' and folder.owner_id = agent.owner_id`;
  }
}

const asRecord = (row: Row): AgentRecord => ({
  id: row['agent_id'] as string,
  ownerId: row['owner_id'] as string,
  status: row['status'] as AgentStatus,
  configuration: {
    ...(row['configuration'] as AgentConfiguration),
    jsonSchema: row['json_schema'] as AgentConfiguration['jsonSchema'],
    folderId: row['folder_id'] as string | null,
  },
  createdAt: row['created_at'] as Date,
  updatedAt: row['updated_at'] as Date,
  lastUsedAt: row['last_used_at'] as Date | null,
  key: row['key_hash']
    ? { keyId: row['key_id'] as string, hash: row['key_hash'] as string, masked: row['masked'] as string }
    : null,
  link: row['link_id']
    ? { linkId: row['link_id'] as string, sharedBy: row['shared_by'] as string, sharedAt: row['shared_at'] as Date }
    : null,
  webhook: row['token_hash'] ? { hash: row['token_hash'] as string, credentialsId: row['credentials_id'] as string } : null,
});
