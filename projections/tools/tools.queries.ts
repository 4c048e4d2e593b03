import type { ToolDefinition } from '../../src/resources/tools/toolbox/tool.events.js';
import { Queries } from '../read-models.js';

/** The current definition of a tool. `revision`: the revision of its stream. */
export type ToolRecord = Readonly<{
  id: string;
  ownerId: string;
  revision: number;
  definition: ToolDefinition;
  createdAt: Date;
  updatedAt: Date;
}>;

export class ToolQueries extends Queries {
  async byId(toolId: string): Promise<ToolRecord | undefined> {
    const rows = await this.sql<ToolRow[]>`
      select ${this.columns} from tools.tool where tool_id = ${toolId}`;
    return rows.map(asRecord)[0];
  }

  /** A user's own tools, oldest first, without those of unfinished imports. */
  async ownedBy(ownerId: string): Promise<readonly ToolRecord[]> {
    const rows = await this.sql<ToolRow[]>`
      select ${this.columns} from tools.tool where owner_id = ${ownerId} and import_id is null
      order by created_at, tool_id`;
    return rows.map(asRecord);
  }

  /** The tools with these ids that exist, oldest first. */
  async among(toolIds: readonly string[]): Promise<readonly ToolRecord[]> {
    if (toolIds.length === 0) return [];
    const rows = await this.sql<ToolRow[]>`
      select ${this.columns} from tools.tool where tool_id = any (${toolIds as string[]}::text[]) order by created_at, tool_id`;
    return rows.map(asRecord);
  }

  /** The tools with these ids that the user owns, oldest first. */
  async ownedAmong(ownerId: string, toolIds: readonly string[]): Promise<readonly ToolRecord[]> {
    if (toolIds.length === 0) return [];
    const rows = await this.sql<ToolRow[]>`
      select ${this.columns} from tools.tool where owner_id = ${ownerId} and tool_id = any (${toolIds as string[]}::text[])
      order by created_at, tool_id`;
    return rows.map(asRecord);
  }

  /**
   * The user's tools that are switched on, all or those with these ids, with the revisions of their streams. `granted`: other
   * users' tools that count as the user's.
   */
  async switchedOn(
    ownerId: string,
    toolIds?: readonly string[],
    granted: readonly string[] = [],
  ): Promise<readonly Readonly<{ id: string; revision: number }>[]> {
    if (toolIds?.length === 0) return [];
    return this.readModels.remembered('tools', `on ${JSON.stringify([ownerId, toolIds, granted])}`, async () => {
      const among = toolIds ? this.sql`and tool_id = any (${toolIds as string[]}::text[])` : this.sql`and import_id is null`;
      const rows = await this.sql`
        select tool_id, revision from tools.tool
        where (owner_id = ${ownerId} or tool_id = any (${granted as string[]}::text[])) and status ${among}
        order by created_at, tool_id`;
      return rows.map((row) => ({ id: row['tool_id'] as string, revision: row['revision'] as number }));
    });
  }

  async countOf(ownerId: string): Promise<number> {
    const rows = await this.sql`select count(*)::integer as n from tools.tool where owner_id = ${ownerId}`;
    return rows[0]!['n'] as number;
  }

  /** The names of the default tools that a user has switched off. */
  async switchedOffDefaults(userId: string): Promise<ReadonlySet<string>> {
    return this.readModels.remembered('tools', `off ${userId}`, async () => {
      const rows = await this.sql`select name from tools.default_tool_off where user_id = ${userId}`;
      return new Set(rows.map((row) => row['name'] as string));
    });
  }

  private get columns() {
    return this.sql`tool_id as id, owner_id as "ownerId", revision, created_at as "createdAt", updated_at as "updatedAt",
      name, display_name as "displayName", custom_name as "customName", description, config,
      credentials_id as "credentialsId", actions, status`;
  }
}

type ToolRow = Omit<ToolRecord, 'definition'> & ToolDefinition;

const asRecord = ({ id, ownerId, revision, createdAt, updatedAt, ...definition }: ToolRow): ToolRecord => ({
  id,
  ownerId,
  revision,
  createdAt,
  updatedAt,
  definition,
});
