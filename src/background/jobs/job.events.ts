import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';
import type { ToolReport } from '../../resources/tools/toolbox/tool-kind.port.js';

export type JobId = string;

/** Why a job is to end before its work does: its owner said so, or its conversation is gone. */
export type CancelReason = 'by-owner' | 'conversation-deleted';
/** How the conversation learned of the job's end: its model asked (`model`), or a turn of its own (`follow-up`); `none`: no report is due. */
export type ReportedBy = 'model' | 'follow-up' | 'none';

/** How far a job has come: the newest that its tool said, and the end of all that it said in words. */
export type JobProgress = Readonly<{ report: ToolReport; outputTail: string | null }>;

type About<More = unknown> = { jobId: JobId; conversationId: string; ownerId: string } & More;

/** A tool call of a turn has run for long: the turn goes on, and so does the call, on its own. */
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
    /** Whether it changes something somewhere: how far that came is not known of one that ends without a result. */
    hasEffects: boolean;
    /** The process at which the call runs. */
    runner: string;
    /** When the call began. */
    begunAt: string;
    /** Until when it may run. */
    deadlineAt: string;
    /** Whether the conversation goes on by itself once the job is over. */
    autoResume: boolean;
  }>
>;
/** The tool has reported progress. Only the newest report is recorded, from time to time. */
export type JobProgressed = Event<'JobProgressed', About<JobProgress>>;
export type JobCancelRequested = Event<'JobCancelRequested', About<{ reason: CancelReason }>>;
/** What came of it is kept outside of the log, for as long as results are kept. */
export type JobCompleted = Event<'JobCompleted', About<{ endedAt: string; result: BlobRef }>>;
export type JobFailed = Event<'JobFailed', About<{ endedAt: string; error: string; reason: 'tool' | 'timeout' }>>;
/** The work has really ended. */
export type JobCancelled = Event<'JobCancelled', About<{ endedAt: string }>>;
/** The process that ran the call is gone, or has given the call up. Its outcome is unknown. */
export type JobLost = Event<'JobLost', About<{ endedAt: string }>>;
/** The conversation of the job has learned of its end. */
export type JobReported = Event<'JobReported', About<{ by: ReportedBy }>>;
/** It and what came of it are no longer shown: it is long over, or its conversation is gone. */
export type JobPurged = Event<'JobPurged', About>;

export type JobEnd = JobCompleted | JobFailed | JobCancelled | JobLost;
export type JobEvent = JobStarted | JobProgressed | JobCancelRequested | JobEnd | JobReported | JobPurged;

export const jobStream = (jobId: JobId): string => `job-${jobId}`;
