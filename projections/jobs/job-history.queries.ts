import { Queries } from '../read-models.js';

/** How a job ended. `timeout`: it reached its deadline. */
export type JobOutcome = 'completed' | 'failed' | 'timeout' | 'cancelled' | 'lost';

export type PastJob = Readonly<{
  jobId: string;
  conversationId: string;
  agentId: string | null;
  title: string;
  outcome: JobOutcome;
  error: string | null;
  startedAt: Date;
  finishedAt: Date;
}>;

export type PastJobs = Readonly<{ since: Date; outcomes: readonly JobOutcome[]; text: string }>;

export type JobUnderWay = Omit<PastJob, 'outcome' | 'error' | 'finishedAt'>;

/** The running and past jobs of a user. */
export class JobHistoryQueries extends Queries {
  /** Running jobs, the newest first. */
  async underWay(ownerId: string, limit: number): Promise<readonly JobUnderWay[]> {
    return this.sql<JobUnderWay[]>`
      select ${this.about} from jobs.job where owner_id = ${ownerId} and status = 'working'
      order by started_at desc, job_id limit ${limit}`;
  }

  /** Jobs that began since a time and have ended, the newest first. */
  async past(ownerId: string, { since, outcomes, text }: PastJobs, limit: number): Promise<readonly PastJob[]> {
    const { sql } = this;
    return sql<PastJob[]>`
      select ${this.about}, ${this.outcome} as outcome, error, finished_at as "finishedAt" from jobs.job
      where owner_id = ${ownerId} and started_at >= ${since} and finished_at is not null
        and ${this.outcome} = any (${[...outcomes]}::text[]) and strpos(lower(${this.title}), lower(${text})) > 0
      order by started_at desc, job_id limit ${limit}`;
  }

  /** The number of jobs that began since a time and ended without being cancelled, and how many of them did not complete. */
  async counts(ownerId: string, since: Date): Promise<Readonly<{ runs: number; failed: number }>> {
    const [counts] = await this.sql<{ runs: number; failed: number }[]>`
      select count(*)::integer as runs, count(*) filter (where status <> 'completed')::integer as failed from jobs.job
      where owner_id = ${ownerId} and started_at >= ${since} and status in ('completed', 'failed', 'lost')`;
    return counts!;
  }

  private get about() {
    return this.sql`job_id as "jobId", conversation_id as "conversationId", agent_id as "agentId",
      ${this.title} as title, started_at as "startedAt"`;
  }

  private get title() {
    return this.sql`tool_name || ': ' || action_name`;
  }

  private get outcome() {
    return this.sql`case when error_type = 'timeout' then 'timeout' else status end`;
  }
}
