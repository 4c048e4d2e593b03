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
    const [row] = await this.sql<JobRecord[]>`select ${this.columns} from jobs.job where job_id = ${jobId}`;
    return row;
  }

  /** A user's jobs in a conversation, newest first. */
  async ofConversation(ownerId: string, conversationId: string, limit: number): Promise<readonly JobRecord[]> {
    return this.sql<JobRecord[]>`
      select ${this.columns} from jobs.job where conversation_id = ${conversationId} and owner_id = ${ownerId}
      order by started_at desc, job_id limit ${limit}`;
  }

  /** The jobs of all users in a conversation. */
  async inConversation(conversationId: string): Promise<readonly JobRecord[]> {
    return this.sql<JobRecord[]>`select ${this.columns} from jobs.job where conversation_id = ${conversationId}`;
  }

  /** The running jobs of all users, the oldest first. `after`: the last item of the previous page. */
  async working(limit: number, after?: JobRecord): Promise<readonly JobRecord[]> {
    const { startedAt, jobId } = after ?? { startedAt: new Date(0), jobId: '' };
    return this.sql<JobRecord[]>`
      select ${this.columns} from jobs.job where status = 'working' and (started_at, job_id) > (${startedAt}, ${jobId})
      order by started_at, job_id limit ${limit}`;
  }

  /** Ended jobs that continue their conversations and whose end is not reported there yet, in the order of their ends. */
  async unreported(limit: number, after?: JobRecord): Promise<readonly JobRecord[]> {
    return this.sql<JobRecord[]>`
      select ${this.columns} from jobs.job
      where reported_by is null and status in ('completed', 'failed', 'lost') and auto_resume
        ${after?.finishedAt ? this.sql`and (finished_at, job_id) > (${after.finishedAt}, ${after.jobId})` : this.sql``}
      order by finished_at, job_id limit ${limit}`;
  }

  /** Jobs that ended before a time, the oldest first. `after`: the last item of the previous page. */
  async finishedBefore(before: Date, limit: number, after?: FinishedJob): Promise<readonly FinishedJob[]> {
    const { since, id } = after ?? { since: new Date(0), id: '' };
    return this.sql<FinishedJob[]>`
      select job_id as id, finished_at as since from jobs.job
      where finished_at < ${before} and (finished_at, job_id) > (${since}, ${id})
      order by finished_at, job_id limit ${limit}`;
  }

  private get columns() {
    return this.sql`job_id as "jobId", owner_id as "ownerId", conversation_id as "conversationId", turn_id as "turnId",
      call_id as "callId", agent_id as "agentId", tool_name as "toolName", action_name as "actionName",
      has_effects as "hasEffects", auto_resume as "autoResume", status, cancel_requested as "cancelRequested",
      progress, output_tail as "outputTail", result, error, error_type as "errorType", reported_by as "reportedBy",
      started_at as "startedAt", deadline_at as "deadlineAt", finished_at as "finishedAt"`;
  }
}
