import type { Row } from 'postgres';
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
    const rows = await this.sql`select * from workflows.workflow where workflow_id = ${workflowId}`;
    return rows.map(asRecord)[0];
  }

  /** The names of a user's workflows by id. */
  async namesOf(ownerId: string): Promise<ReadonlyMap<string, string>> {
    const rows = await this.sql`select workflow_id, name from workflows.workflow where owner_id = ${ownerId}`;
    return new Map(rows.map((row) => [row['workflow_id'] as string, row['name'] as string]));
  }
}

const asRecord = (row: Row): WorkflowRecord => ({
  id: row['workflow_id'] as string,
  ownerId: row['owner_id'] as string,
  name: row['name'] as string,
  description: row['description'] as string,
  version: row['version'] as number,
  createdAt: row['created_at'] as Date,
  updatedAt: row['updated_at'] as Date,
});
