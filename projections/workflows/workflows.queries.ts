import { Queries } from '../read-models.js';

/** The current state of a workflow. `version`: the version of its newest graph. */
export type WorkflowRecord = Readonly<{
  id: string;
  ownerId: string;
  name: string;
  description: string;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}>;

export class WorkflowQueries extends Queries {
  async byId(workflowId: string): Promise<WorkflowRecord | undefined> {
    const [row] = await this.sql<
      WorkflowRecord[]
    >`select ${this.columns} from workflows.workflow where workflow_id = ${workflowId}`;
    return row;
  }

  /** The names of a user's workflows by id. */
  async namesOf(ownerId: string): Promise<ReadonlyMap<string, string>> {
    const rows = await this.sql`select workflow_id, name from workflows.workflow where owner_id = ${ownerId}`;
    return new Map(rows.map((row) => [row['workflow_id'] as string, row['name'] as string]));
  }

  private get columns() {
    return this.sql`workflow_id as id, owner_id as "ownerId", name, description, version, created_at as "createdAt",
      updated_at as "updatedAt"`;
  }
}
