import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';
import type { ToolReport } from '../../resources/tools/toolbox/tool-kind.port.js';

export type JobId = string;

/** Why a job is cancelled: its owner requested it, or its conversation was deleted. */
export type CancelReason = 'by-owner' | 'conversation-deleted';
/**
 * How the conversation learned of the job's end: its model checked the job (`model`) or an automatic turn reports it
 * (`follow-up`). `none`: no report is due.
 */
export type ReportedBy = 'model' | 'follow-up' | 'none';

/** The progress of a job: the newest report of its tool, and the end of all its messages. */
export type JobProgress = Readonly<{ report: ToolReport; outputTail: string | null }>;

type About<More = unknown> = { jobId: JobId; conversationId: string; ownerId: string } & More;

/** A long tool call of a turn became a job: the turn continues, and the call continues in the background. */
export type JobStarted = Event<
  'JobStarted',
  About<{
    turnId: string;
    callId: string;
    agentId: string | null;
    toolId: string;
    /** The kind of the tool. */
    toolName: string;
    actionName: string;
    arguments: Readonly<Record<string, unknown>>;
    /** Whether the call has side effects. If it ends without a result, it is unknown which of them happened. */
    hasEffects: boolean;
    /** The process that runs the call. */
    runner: string;
    /** When the call began. */
    begunAt: string;
    /** The time until which the call may run. */
    deadlineAt: string;
    /** Whether a follow-up continues the conversation when the job has ended. */
    autoResume: boolean;
  }>
>;
/** The tool has reported progress. Only the newest report is recorded, from time to time. */
export type JobProgressed = Event<'JobProgressed', About<JobProgress>>;
export type JobCancelRequested = Event<'JobCancelRequested', About<{ reason: CancelReason }>>;
/** The result is stored as a blob for the retention time of results. */
export type JobCompleted = Event<'JobCompleted', About<{ endedAt: string; result: BlobRef }>>;
export type JobFailed = Event<'JobFailed', About<{ endedAt: string; error: string; reason: 'tool' | 'timeout' }>>;
/** The work has really ended. */
export type JobCancelled = Event<'JobCancelled', About<{ endedAt: string }>>;
/** The process that ran the call is gone or has abandoned the call. The outcome is unknown. */
export type JobLost = Event<'JobLost', About<{ endedAt: string }>>;
/** The conversation of the job has learned of its end. */
export type JobReported = Event<'JobReported', About<{ by: ReportedBy }>>;
/** The job and its result are no longer shown, because the retention time is over or the conversation was deleted. */
export type JobPurged = Event<'JobPurged', About>;

export type JobEnd = JobCompleted | JobFailed | JobCancelled | JobLost;
export type JobEvent = JobStarted | JobProgressed | JobCancelRequested | JobEnd | JobReported | JobPurged;

export const jobStream = (jobId: JobId): string => `job-${jobId}`;
