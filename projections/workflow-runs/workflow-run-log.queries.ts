import type { LogFilter, LogKey, LogLevel } from '../analytics-filters.js';
import { Queries } from '../read-models.js';

/** An ended run of a workflow. */
export type LoggedWorkflowRun = Readonly<{
  id: string;
  at: Date;
  level: LogLevel;
  workflowId: string | null;
  status: string;
  error: string | null;
  steps: number;
  startedAt: Date;
}>;

export class WorkflowRunLogQueries extends Queries {
  /** The newest runs of a user. With `workflowIds`, only runs of these workflows. */
  async newest(
    { ownerId, agentId, level }: Omit<LogFilter, 'search'>,
    workflowIds: readonly string[] | undefined,
    limit: number,
  ): Promise<readonly LogKey[]> {
    const { sql } = this;
    return sql<LogKey[]>`
      select workflow_run_id as id, ended_at as at
      from workflow_runs.workflow_run
      where owner_id = ${ownerId} and ended_at is not null
        ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
        ${level === undefined ? sql`` : sql`and ${this.level} = ${level}`}
        ${workflowIds === undefined ? sql`` : sql`and workflow_id = any (${[...workflowIds]}::text[])`}
      order by ended_at desc, workflow_run_id desc limit ${limit}`;
  }

  async entries(ids: readonly string[]): Promise<readonly LoggedWorkflowRun[]> {
    if (ids.length === 0) return [];
    return this.sql<LoggedWorkflowRun[]>`
      select workflow_run_id as id, ended_at as at, ${this.level} as level, workflow_id as "workflowId", status, error, steps,
        started_at as "startedAt"
      from workflow_runs.workflow_run where workflow_run_id = any(${[...ids]}::text[])`;
  }

  private get level() {
    return this.sql`case status when 'failed' then 'error' else 'info' end`;
  }
}
