import { Queries } from '../read-models.js';

export type WorkflowRunStatus = 'running' | 'completed' | 'failed' | 'stopped';

/** A run of a workflow, without its steps. */
export type WorkflowRunRecord = Readonly<{
  id: string;
  workflowId: string | null;
  version: number | null;
  ownerId: string;
  workflowOwnerId: string;
  agentId: string | null;
  conversationId: string | null;
  turnId: string | null;
  runId: string | null;
  status: WorkflowRunStatus;
  reason: string | null;
  error: string | null;
  steps: number;
  nodeTitle: string | null;
  waits: boolean;
  startedAt: Date;
  endedAt: Date | null;
}>;

/** An ended run whose workflow is deleted. `since`: when the workflow was deleted. */
export type PurgeableRun = Readonly<{ id: string; since: Date }>;

export class WorkflowRunQueries extends Queries {
  /** A user's unfinished runs, the newest first. */
  async underWay(ownerId: string, limit: number): Promise<readonly WorkflowRunRecord[]> {
    return this.sql<WorkflowRunRecord[]>`
      select ${this.columns} from workflow_runs.workflow_run where owner_id = ${ownerId} and ended_at is null
      order by started_at desc, workflow_run_id limit ${limit}`;
  }

  /**
   * Ended runs whose workflow is deleted, the earliest deletion first. The inner limit makes Postgres find the runs of each workflow
   * with an index, also when its statistics are old. It would read all runs for a join.
   */
  async ofDeletedWorkflows(limit: number, after: PurgeableRun | undefined): Promise<readonly PurgeableRun[]> {
    const { sql } = this;
    return sql<PurgeableRun[]>`
      select id, deleted_at as since from workflow_runs.deleted_workflow as deleted cross join lateral (
        select workflow_run_id as id from workflow_runs.workflow_run as run
        where run.workflow_id = deleted.workflow_id and ended_at is not null
          ${after ? sql`and (deleted_at, workflow_run_id) > (${after.since}, ${after.id})` : sql``}
        order by workflow_run_id limit ${limit}
      ) as ended
      ${after ? sql`where deleted_at >= ${after.since}` : sql``}
      order by deleted_at, id limit ${limit}`;
  }

  /** The ids of a workflow's ended runs. `after`: the last id of the previous page. */
  async overOf(workflowId: string, limit: number, after = ''): Promise<readonly string[]> {
    const rows = await this.sql<{ id: string }[]>`
      select workflow_run_id as id from workflow_runs.workflow_run
      where workflow_id = ${workflowId} and ended_at is not null and workflow_run_id > ${after} order by workflow_run_id limit ${limit}`;
    return rows.map(({ id }) => id);
  }

  private get columns() {
    return this.sql`workflow_run_id as id, workflow_id as "workflowId", version, owner_id as "ownerId",
      workflow_owner_id as "workflowOwnerId", agent_id as "agentId", conversation_id as "conversationId", turn_id as "turnId",
      run_id as "runId", status, reason, error, steps, node_title as "nodeTitle", waits,
      started_at as "startedAt", ended_at as "endedAt"`;
  }
}
