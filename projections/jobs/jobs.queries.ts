import type { Row } from 'postgres';
import type { JobStatus } from '../../src/background/jobs/job.policy.js';
import type { ReportedBy } from '../../src/background/jobs/job.events.js';
import type { BlobRef } from '../../src/kernel/blobs.js';
import { Queries } from '../read-models.js';
import type { ToolReport } from '../../src/resources/tools/toolbox/tool-kind.port.js';

export type JobRecord = Readonly<{
  jobId: string;
  ownerId: string;
  conversationId: string;
  turnId: string;
  callId: string;
  agentId: string | null;
  toolName: string;
  actionName: string;
  hasEffects: boolean;
  autoResume: boolean;
  status: JobStatus;
  cancelRequested: boolean;
  progress: ToolReport | null;
  outputTail: string | null;
  result: BlobRef | null;
  error: string | null;
  errorType: 'tool' | 'timeout' | null;
  reportedBy: ReportedBy | null;
  startedAt: Date;
  deadlineAt: Date;
  finishedAt: Date | null;
}>;

/** A job that has ended. `since`: when it ended. */
export type FinishedJob = Readonly<{ id: string; since: Date }>;

export class JobQueries extends Queries {
  async byId(jobId: string): Promise<JobRecord | undefined> {
    return (await this.sql`select * from jobs.job where job_id = ${jobId}`).map(asJob)[0];
  }

  /** A user's jobs in a conversation, newest first. */
  async ofConversation(ownerId: string, conversationId: string, limit: number): Promise<readonly JobRecord[]> {
    const rows = await this.sql`
      select * from jobs.job where conversation_id = ${conversationId} and owner_id = ${ownerId}
      order by started_at desc, job_id limit ${limit}`;
    return rows.map(asJob);
  }

  /** The jobs of all users in a conversation. */
  async inConversation(conversationId: string): Promise<readonly JobRecord[]> {
    return (await this.sql`select * from jobs.job where conversation_id = ${conversationId}`).map(asJob);
  }

  /** The running jobs of all users, the oldest first. `after`: the last item of the previous page. */
  async working(limit: number, after?: JobRecord): Promise<readonly JobRecord[]> {
    const { startedAt, jobId } = after ?? { startedAt: new Date(0), jobId: '' };
    const rows = await this.sql`
      select * from jobs.job where status = 'working' and (started_at, job_id) > (${startedAt}, ${jobId})
      order by started_at, job_id limit ${limit}`;
    return rows.map(asJob);
  }

  /** Ended jobs that continue their conversations and whose end is not reported there yet, in the order of their ends. */
  async unreported(limit: number, after?: JobRecord): Promise<readonly JobRecord[]> {
    const rows = await this.sql`
      select * from jobs.job
      where reported_by is null and status in ('completed', 'failed', 'lost') and auto_resume
        ${after?.finishedAt ? this.sql`and (finished_at, job_id) > (${after.finishedAt}, ${after.jobId})` : this.sql``}
      order by finished_at, job_id limit ${limit}`;
    return rows.map(asJob);
  }

  /** Jobs that ended before a time, the oldest first. `after`: the last item of the previous page. */
  async finishedBefore(before: Date, limit: number, after?: FinishedJob): Promise<readonly FinishedJob[]> {
    const { since, id } = after ?? { since: new Date(0), id: '' };
    return this.sql<FinishedJob[]>`
      select job_id as id, finished_at as since from jobs.job
      where finished_at < ${before} and (finished_at, job_id) > (${since}, ${id})
      order by finished_at, job_id limit ${limit}`;
  }
}

export const asJob = (row: Row): JobRecord => ({
  jobId: row['job_id'] as string,
  ownerId: row['owner_id'] as string,
  conversationId: row['conversation_id'] as string,
  turnId: row['turn_id'] as string,
  callId: row['call_id'] as string,
  agentId: row['agent_id'] as string | null,
  toolName: row['tool_name'] as string,
  actionName: row['action_name'] as string,
  hasEffects: row['has_effects'] as boolean,
  autoResume: row['auto_resume'] as boolean,
  status: row['status'] as JobStatus,
  cancelRequested: row['cancel_requested'] as boolean,
  progress: row['progress'] as ToolReport | null,
  outputTail: row['output_tail'] as string | null,
  result: row['result'] as BlobRef | null,
  error: row['error'] as string | null,
  errorType: row['error_type'] as JobRecord['errorType'],
  reportedBy: row['reported_by'] as ReportedBy | null,
  startedAt: row['started_at'] as Date,
  deadlineAt: row['deadline_at'] as Date,
  finishedAt: row['finished_at'] as Date | null,
});
