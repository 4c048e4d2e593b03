import type { Decision } from '../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { jobCodec } from './job.codec.js';
import type { CancelReason, JobEnd, JobEvent, JobProgress, JobStarted, ReportedBy } from './job.events.js';
import { isSameProgress } from './job-progress.policy.js';
import { jobNotFound } from './job.policy.js';

/** The state of a job. Of a purged job only that fact is left. */
export type Job = Readonly<{
  started: JobStarted['data'] | null;
  progress: JobProgress | null;
  cancelRequested: CancelReason | null;
  end: JobEnd | null;
  reportedBy: ReportedBy | null;
  purged: boolean;
}>;

type Decide = Decision<Job, JobEvent>;

const initial: Job = { started: null, progress: null, cancelRequested: null, end: null, reportedBy: null, purged: false };

export const job: Aggregate<Job, JobEvent> = { initial, evolve, codec: jobCodec };

function evolve(state: Job, event: JobEvent): Job {
  switch (event.type) {
    case 'JobStarted':
      return { ...state, started: event.data };
    case 'JobProgressed': {
      const { report, outputTail } = event.data;
      return { ...state, progress: { report, outputTail } };
    }
    case 'JobCancelRequested':
      return { ...state, cancelRequested: event.data.reason };
    case 'JobCompleted':
    case 'JobFailed':
    case 'JobCancelled':
    case 'JobLost':
      return { ...state, end: event };
    case 'JobReported':
      return { ...state, reportedBy: event.data.by };
    case 'JobPurged':
      // After the truncation of the stream this is its first event, so the state must not depend on earlier ones.
      return { ...initial, purged: true };
  }
}

const aboutOf = ({ jobId, conversationId, ownerId }: JobStarted['data']) => ({ jobId, conversationId, ownerId });

/** Starts a job. @throws Rejection job-exists if another process has started the job of the same call, or if the job is purged */
export const startJob =
  (data: JobStarted['data']): Decide =>
  ({ started, purged }) => {
    if (!started && !purged) return [{ type: 'JobStarted', data }];
    if (started?.runner !== data.runner)
      throw new Rejection('job-exists', `Job ${data.jobId} has been started by another process.`);
    return [];
  };

/** Records new progress of a job that has not ended. */
export const progressJob =
  (progress: JobProgress): Decide =>
  ({ started, progress: before, end }) =>
    !started || end || isSameProgress(progress, before)
      ? []
      : [{ type: 'JobProgressed', data: { ...aboutOf(started), ...progress } }];

/** Requests a cancellation. Does nothing if the job has ended. @throws Rejection job-not-found if the owner has no such job */
export const requestCancel =
  (ownerId: string, reason: CancelReason): Decide =>
  ({ started, end, cancelRequested, purged }) => {
    if (!started || started.ownerId !== ownerId || purged) throw jobNotFound();
    return end || cancelRequested ? [] : [{ type: 'JobCancelRequested', data: { ...aboutOf(started), reason } }];
  };

/** Records the end of a job. Only the first end counts, so a process cannot change the end of a job that was marked as lost. */
export const endJob =
  (ending: JobEnding, now: Date): Decide =>
  ({ started, end }) => {
    if (!started || end) return [];
    const data = { ...aboutOf(started), endedAt: now.toISOString() };
    switch (ending.type) {
      case 'completed':
        return [{ type: 'JobCompleted', data: { ...data, result: ending.result } }];
      case 'failed':
        return [{ type: 'JobFailed', data: { ...data, error: ending.error, reason: ending.reason } }];
      case 'cancelled':
        return [{ type: 'JobCancelled', data }];
      case 'lost':
        return [{ type: 'JobLost', data }];
    }
  };

/** The end of a job's work. */
export type JobEnding =
  | Readonly<{ type: 'completed' } & Pick<Extract<JobEnd, { type: 'JobCompleted' }>['data'], 'result'>>
  | Readonly<{ type: 'failed' } & Pick<Extract<JobEnd, { type: 'JobFailed' }>['data'], 'error' | 'reason'>>
  | Readonly<{ type: 'cancelled' | 'lost' }>;

/** Records that the end was reported. The first report counts. */
export const reportJob =
  (by: ReportedBy): Decide =>
  ({ started, end, reportedBy, purged }) =>
    !started || !end || reportedBy || purged ? [] : [{ type: 'JobReported', data: { ...aboutOf(started), by } }];

/** Purges a job that ended before a time. */
export const purgeJob =
  (endedBefore: Date): Decide =>
  ({ started, end, purged }) =>
    !started || !end || purged || new Date(end.data.endedAt) >= endedBefore
      ? []
      : [{ type: 'JobPurged', data: aboutOf(started) }];
