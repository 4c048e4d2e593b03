import { deterministicId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import type { JobEnd, JobId, ReportedBy } from './job.events.js';

export type JobStatus = 'working' | 'completed' | 'failed' | 'cancelled' | 'lost';

/** Whether the end of a job has reached its conversation; `suppressed`: no report is due. */
export type DeliveryState = 'pending' | 'seen' | 'delivered' | 'suppressed';

/** What anybody is shown of a result. */
export const SHOWN_CHARACTERS_MAX = 2_000;
/** What is kept of the error of a job that failed. */
export const ERROR_CHARACTERS_MAX = 2_000;

/** A call becomes one job at most, in whichever process it runs. */
export const jobIdOf = (turnId: string, callId: string): JobId => deterministicId('job', turnId, callId);

/** Held by the process at which a job's call runs. */
export const jobLease = (jobId: JobId): string => `jobs.run.${jobId}`;

/** Held for each job that is under way, in a conversation and of a user. */
export const conversationSlots = (conversationId: string): string => `jobs.conversation.${conversationId}`;
export const ownerSlots = (ownerId: string): string => `jobs.owner.${deterministicId('owner', ownerId)}`;

/** The signal by which the process of a job learns that a cancellation may have been requested. */
export const cancelSubject = (jobId: JobId): string => `job.cancel.${jobId}`;

export const jobNotFound = () => new Rejection('job-not-found', 'Job not found');

const STATUSES = { JobCompleted: 'completed', JobFailed: 'failed', JobCancelled: 'cancelled', JobLost: 'lost' } as const;

export const statusAfter = (end: JobEnd | null): JobStatus => (end ? STATUSES[end.type] : 'working');

/** Says of a job that ended otherwise than with a result what its reader has to know. */
const END_TEXTS = {
  cancelled: 'The job was cancelled before it was done.',
  lost: 'The process that ran this job is gone. What came of the call is not known; it is not repeated.',
} as const;

const EFFECTS_UNKNOWN = ' How far it came, and what it changed, is not known.';

/** What is to be known of how a job stands, beside its result. */
export function noteOn(status: JobStatus, hasEffects: boolean, cancelRequested: boolean): string {
  switch (status) {
    case 'working':
      return cancelRequested ? 'The job was asked to stop and has not stopped yet.' : 'The job is still running.';
    case 'completed':
      return 'The job is done.';
    case 'failed':
      return `The job failed.${hasEffects ? EFFECTS_UNKNOWN : ''}`;
    case 'cancelled':
      return `${END_TEXTS.cancelled}${hasEffects ? EFFECTS_UNKNOWN : ''}`;
    case 'lost':
      return END_TEXTS.lost;
  }
}

type Ended = Readonly<{
  jobId: JobId;
  toolName: string;
  actionName: string;
  status: JobStatus;
  hasEffects: boolean;
  error: string | null;
}>;

/** The text of the follow-up for a job that is over. */
export function followUpText({ jobId, toolName, actionName, status, hasEffects, error }: Ended, result: string | null): string {
  const said = result === null ? [] : ['Its result:', result];
  return [
    `The background job ${jobId} (${toolName} ${actionName}) is over.`,
    noteOn(status, hasEffects, false),
    ...(error ? [`Its error: ${error}`] : said),
  ].join('\n');
}

export const deliveryOf = (status: JobStatus, autoResume: boolean, reportedBy: ReportedBy | null): DeliveryState => {
  if (reportedBy === 'model') return 'seen';
  if (reportedBy === 'follow-up') return 'delivered';
  return reportedBy === 'none' || status === 'cancelled' || !autoResume ? 'suppressed' : 'pending';
};

/** The beginning of a text; half a character is none. */
export const beginningOf = (text: string, charactersMax: number): string => {
  if (text.length <= charactersMax) return text;
  const kept = text.slice(0, charactersMax - 1);
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
};
