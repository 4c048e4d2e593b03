import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { JobId } from './job.events.js';
import type { JobStatus } from './job.policy.js';
import type { ToolReport } from '../../resources/tools/toolbox/tool-kind.port.js';

/** The status of a job, as a model reads it. */
export type JobReport = Readonly<{
  job_id: JobId;
  status: JobStatus;
  action: string;
  elapsed_s: number;
  progress?: ToolReport;
  output_tail?: string;
  result?: unknown;
  error?: string;
  note: string;
}>;

/** In whose name and where a job is asked for. */
export type JobAsker = Readonly<{ ownerId: string; conversationId: string; cause: Cause }>;

/** Where a model reads the jobs of its conversation. An end that it has read is not reported again. */
export abstract class JobBook {
  /** Whether calls become jobs at all. */
  abstract readonly isKept: boolean;
  /** Undefined where there is no such job in this conversation. */
  abstract check(jobId: string, asker: JobAsker): Promise<JobReport | undefined>;
}
