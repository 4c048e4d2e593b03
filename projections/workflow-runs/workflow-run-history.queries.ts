import { Queries } from '../read-models.js';
import type { WorkflowRunStatus } from './workflow-runs.queries.js';

/** An ended run, as a history shows it. */
export type PastWorkflowRun = Readonly<{
  id: string;
  workflowId: string | null;
  agentId: string | null;
  conversationId: string | null;
  turnId: string | null;
  runId: string | null;
  status: WorkflowRunStatus;
  reason: string | null;
  error: string | null;
  startedAt: Date;
  endedAt: Date;
}>;

/** The runs to return. Without `of`: the runs of all agents and workflows. */
export type WorkflowRunsWanted = Readonly<{
  since: Date;
  statuses: readonly WorkflowRunStatus[];
  of: Readonly<{ agentIds: readonly string[]; workflowIds: readonly string[] }> | undefined;
}>;

export class WorkflowRunHistoryQueries extends Queries {
  /** A user's ended runs that began since a time, the newest first. */
  async past(ownerId: string, { since, statuses, of }: WorkflowRunsWanted, limit: number): Promise<readonly PastWorkflowRun[]> {
    const { sql } = this;
    const among = of
      ? sql`and (agent_id = any (${of.agentIds as string[]}::text[])
          or agent_id is null and workflow_id = any (${of.workflowIds as string[]}::text[]))`
      : sql``;
    return sql<PastWorkflowRun[]>`
      select workflow_run_id as id, workflow_id as "workflowId", agent_id as "agentId", conversation_id as "conversationId",
        turn_id as "turnId", run_id as "runId", status, reason, error, started_at as "startedAt", ended_at as "endedAt"
      from workflow_runs.workflow_run
      where owner_id = ${ownerId} and ended_at is not null and started_at >= ${since}
        and status = any (${statuses as string[]}::text[]) ${among}
      order by started_at desc, workflow_run_id limit ${limit}`;
  }

  /** The number of a user's runs that began since a time and have ended, and how many of them failed. */
  async counts(ownerId: string, since: Date): Promise<Readonly<{ runs: number; failed: number }>> {
    const [counted] = await this.sql<{ runs: number; failed: number }[]>`
      select count(*)::integer as runs, (count(*) filter (where status = 'failed'))::integer as failed
      from workflow_runs.workflow_run where owner_id = ${ownerId} and ended_at is not null and started_at >= ${since}`;
    return counted!;
  }
}
