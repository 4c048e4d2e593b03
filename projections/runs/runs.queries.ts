import { Queries } from '../read-models.js';

export type WebhookRunStatus = 'queued' | 'running' | 'success' | 'failed' | 'timeout' | 'refused';

/** A run that a webhook delivery started. */
export type WebhookRunRecord = Readonly<{
  id: string;
  agentId: string | null;
  status: WebhookRunStatus;
  attempt: number;
  error: string | null;
  queuedAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}>;

/** The ended runs to return: queued since a time, with one of these statuses and, if given, of one of these agents. */
export type FinishedRuns = Readonly<{
  since: Date;
  statuses: readonly WebhookRunStatus[];
  agentIds?: readonly string[] | undefined;
}>;

export type RunCounts = Readonly<{ runs: number; failed: number }>;

export class RunQueries extends Queries {
  /** A user's unfinished runs, the newest first. */
  async underWay(ownerId: string, limit: number): Promise<readonly WebhookRunRecord[]> {
    return this.sql<WebhookRunRecord[]>`
      select ${this.columns} from runs.run where owner_id = ${ownerId} and finished_at is null
      order by queued_at desc, run_id limit ${limit}`;
  }

  /** A user's ended runs, the newest first. */
  async finished(
    ownerId: string,
    { since, statuses, agentIds }: FinishedRuns,
    limit: number,
  ): Promise<readonly WebhookRunRecord[]> {
    const { sql } = this;
    return sql<WebhookRunRecord[]>`
      select ${this.columns} from runs.run
      where owner_id = ${ownerId} and finished_at is not null and queued_at >= ${since}
        and status = any (${[...statuses]}::text[]) ${agentIds ? sql`and agent_id = any (${[...agentIds]}::text[])` : sql``}
      order by queued_at desc, run_id limit ${limit}`;
  }

  /**
   * The number of a user's runs that were queued since a time and have ended. Refused runs do not count, because they did not
   * run.
   */
  async counts(ownerId: string, since: Date): Promise<RunCounts> {
    const [counts] = await this.sql<RunCounts[]>`
      select count(*)::integer as runs, count(*) filter (where status <> 'success')::integer as failed from runs.run
      where owner_id = ${ownerId} and queued_at >= ${since} and finished_at is not null and status <> 'refused'`;
    return counts!;
  }

  private get columns() {
    return this.sql`run_id as id, agent_id as "agentId", status, attempt, error,
      queued_at as "queuedAt", started_at as "startedAt", finished_at as "finishedAt"`;
  }
}
