import type { FollowUpState } from '../follow-ups/follow-ups.port.js';
import { deterministicId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import type { JobEnd, JobId, ReportedBy } from './job.events.js';

export type JobStatus = 'working' | 'completed' | 'failed' | 'cancelled' | 'lost';

/** How the end of a job was reported to its conversation. `suppressed`: no report is due, or its follow-up was dropped. */
export type DeliveryState = 'pending' | 'seen' | 'delivered' | 'suppressed';

/** Maximum length of a result as it is shown. */
export const SHOWN_CHARACTERS_MAX = 2_000;
/** Maximum length of the recorded error of a failed job. */
export const ERROR_CHARACTERS_MAX = 2_000;

/** The id of a call's job. It is derived from turn and call, so a call becomes at most one job in all processes. */
export const jobIdOf = (turnId: string, callId: string): JobId => deterministicId('job', turnId, callId);

/** The key of the lease that the process of a job's call holds. */
export const jobLease = (jobId: JobId): string => `jobs.run.${jobId}`;

/** Key prefixes of the slots that each running job holds, for its conversation and for its user. */
export const conversationSlots = (conversationId: string): string => `jobs.conversation.${conversationId}`;
export const ownerSlots = (ownerId: string): string => `jobs.owner.${deterministicId('owner', ownerId)}`;

/** The signal by which the process of a job learns that a cancellation may have been requested. */
export const cancelSubject = (jobId: JobId): string => `job.cancel.${jobId}`;

export const jobNotFound = () => new Rejection('job-not-found', 'Job not found');

const STATUSES = { JobCompleted: 'completed', JobFailed: 'failed', JobCancelled: 'cancelled', JobLost: 'lost' } as const;

export const statusAfter = (end: JobEnd | null): JobStatus => (end ? STATUSES[end.type] : 'working');

/** Notes on jobs that were cancelled or lost. */
const END_TEXTS = {
  cancelled: 'The job was cancelled before it was done.',
  lost: 'The process that ran this job is gone. What came of the call is not known; it is not repeated.',
} as const;

const EFFECTS_UNKNOWN = ' How far it came, and what it changed, is not known.';

/** The note on a job's status that is shown beside its result. */
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

export function followUpText({ jobId, toolName, actionName, status, hasEffects, error }: Ended, result: string | null): string {
  const said = result === null ? [] : ['Its result:', result];
  return [
    `The background job ${jobId} (${toolName} ${actionName}) is over.`,
    noteOn(status, hasEffects, false),
    ...(error ? [`Its error: ${error}`] : said),
  ].join('\n');
}

/** The key of the follow-up that reports a job. */
export const followUpKey = (jobId: JobId): string => `job:${jobId}`;

const DELIVERY_STATES: Readonly<Record<FollowUpState, DeliveryState>> = {
  pending: 'pending',
  claimed: 'pending',
  delivered: 'delivered',
  merged: 'delivered',
  suppressed: 'suppressed',
  superseded: 'suppressed',
  failed: 'suppressed',
};

/** `followUp`: the state of the follow-up that reports the job, unless it is purged. */
export const deliveryOf = (
  status: JobStatus,
  autoResume: boolean,
  reportedBy: ReportedBy | null,
  followUp?: FollowUpState,
): DeliveryState => {
  if (reportedBy === 'model') return 'seen';
  if (reportedBy === 'follow-up') return followUp === undefined ? 'delivered' : DELIVERY_STATES[followUp];
  return reportedBy === 'none' || status === 'cancelled' || !autoResume ? 'suppressed' : 'pending';
};
