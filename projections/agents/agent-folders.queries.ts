import { Queries } from '../read-models.js';

export type AgentFolderRecord = Readonly<{
  id: string;
  ownerId: string;
  name: string;
  parentId: string | null;
  createdAt: Date;
  updatedAt: Date;
}>;

/** Folders of agents and their contents. */
export class AgentFolderQueries extends Queries {
  async byId(folderId: string): Promise<AgentFolderRecord | undefined> {
    const { sql } = this;
    const [folder] = await sql<
      AgentFolderRecord[]
    >`select ${this.columns} from agents.agent_folder where folder_id = ${folderId}`;
    return folder;
  }

  /** A user's folders, sorted by name. */
  async ownedBy(userId: string): Promise<readonly AgentFolderRecord[]> {
    const { sql } = this;
    return sql<AgentFolderRecord[]>`
      select ${this.columns} from agents.agent_folder where owner_id = ${userId} order by name, folder_id`;
  }

  async foldersIn(userId: string, folderId: string): Promise<readonly Readonly<{ id: string; name: string }>[]> {
    return this.sql<{ id: string; name: string }[]>`
      select folder_id as id, name from agents.agent_folder
      where owner_id = ${userId} and parent_id = ${folderId} order by name, folder_id`;
  }

  /** A user's own agents in a folder, newest first. */
  async agentsIn(userId: string, folderId: string) {
    return this.sql<{ id: string; name: string; description: string }[]>`
      select agent_id as id, configuration ->> 'name' as name, configuration ->> 'description' as description from agents.agent
      where owner_id = ${userId} and configuration ->> 'folderId' = ${folderId} order by created_at desc, agent_id`;
  }

  private get columns() {
    return this.sql`folder_id as id, owner_id as "ownerId", name, parent_id as "parentId", created_at as "createdAt", updated_at as "updatedAt"`;
  }
}
