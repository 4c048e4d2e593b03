import type { JobOutcome, PastJob } from '../../../projections/jobs/job-history.queries.js';
import type { WebhookRunRecord, WebhookRunStatus } from '../../../projections/runs/runs.queries.js';
import type { PastScheduleRun } from '../../../projections/schedules/schedule-history.queries.js';
import type { ScheduleRunStatus } from '../../../projections/schedules/schedules.queries.js';
import type { PastWorkflowRun } from '../../../projections/workflow-runs/workflow-run-history.queries.js';
import type { WorkflowRunStatus } from '../../../projections/workflow-runs/workflow-runs.queries.js';
import type { MonitorFollowUp } from '../../../projections/follow-ups/monitor-follow-ups.queries.js';
import type { FollowUpState } from '../../background/follow-ups/follow-ups.port.js';
import type { HistoryKind, HistoryStatus } from './history.policy.js';

/** The title of a webhook run whose agent is deleted. */
export const NAMELESS_WEBHOOK = 'Webhook';
/** The title of a run whose agent and workflow are deleted or were never saved. */
export const NAMELESS_WORKFLOW = 'Workflow';

/** Work of any kind that has ended or was skipped. */
export type HistoryRow = Readonly<{
  kind: HistoryKind;
  id: string;
  title: string;
  status: HistoryStatus;
  /** When it was due or requested. Rows are sorted by this time. */
  at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  duration_ms: number | null;
  agent_id: string | null;
  conversation_id: string | null;
  error: string | null;
}> &
  Readonly<
    Partial<
      Record<
        | 'run_id'
        | 'schedule_id'
        | 'task_id'
        | 'job_id'
        | 'monitor_id'
        | 'message_id'
        | 'workflow_run_id'
        | 'workflow_id'
        | 'error_type',
        string | null
      >
    >
  >;

/** The statuses of each kind of work, as statuses of the history. */
export const SCHEDULE_WORDS: Partial<Record<ScheduleRunStatus, HistoryStatus>> = {
  success: 'success',
  failed: 'failed',
  timeout: 'timeout',
  skipped: 'skipped',
  missed: 'skipped',
};
export const WEBHOOK_WORDS: Partial<Record<WebhookRunStatus, HistoryStatus>> = {
  success: 'success',
  failed: 'failed',
  timeout: 'timeout',
  refused: 'skipped',
};
export const JOB_WORDS: Record<JobOutcome, HistoryStatus> = {
  completed: 'success',
  failed: 'failed',
  lost: 'failed',
  timeout: 'timeout',
  cancelled: 'cancelled',
};
export const WORKFLOW_WORDS: Partial<Record<WorkflowRunStatus, HistoryStatus>> = {
  completed: 'success',
  failed: 'failed',
  stopped: 'cancelled',
};
export const MONITOR_WORDS: Partial<Record<FollowUpState, HistoryStatus>> = {
  delivered: 'success',
  merged: 'success',
  failed: 'failed',
  suppressed: 'skipped',
  superseded: 'skipped',
};

/** The statuses of a kind that mean one of these statuses of the history. */
export const inWordsOf = <Word extends string>(
  words: Partial<Record<Word, HistoryStatus>>,
  statuses: readonly HistoryStatus[],
): readonly Word[] => (Object.keys(words) as Word[]).filter((word) => statuses.includes(words[word]!));

const duration = (from: Date | null, until: Date | null): number | null =>
  from && until ? Math.max(0, until.getTime() - from.getTime()) : null;

export const ofSchedule = (run: PastScheduleRun): HistoryRow => ({
  kind: 'schedule',
  id: run.runId,
  title: run.title,
  status: SCHEDULE_WORDS[run.status]!,
  at: run.scheduledFor,
  started_at: run.startedAt,
  finished_at: run.finishedAt,
  duration_ms: duration(run.startedAt, run.finishedAt),
  agent_id: run.agentId,
  conversation_id: run.conversationId,
  error: run.error,
  error_type: run.errorType,
  run_id: run.runId,
  schedule_id: run.scheduleId,
});

export const ofWebhook = (run: WebhookRunRecord, title: string): HistoryRow => ({
  kind: 'webhook',
  id: run.id,
  title,
  status: WEBHOOK_WORDS[run.status]!,
  at: run.queuedAt,
  started_at: run.startedAt,
  finished_at: run.finishedAt,
  duration_ms: duration(run.startedAt, run.finishedAt),
  agent_id: run.agentId,
  conversation_id: null,
  error: run.error,
  ...(run.status === 'refused' && { error_type: 'quota_exceeded' }),
  run_id: run.id,
  task_id: run.id,
});

export const ofJob = (job: PastJob): HistoryRow => ({
  kind: 'job',
  id: job.jobId,
  title: job.title,
  status: JOB_WORDS[job.outcome],
  at: job.startedAt,
  started_at: job.startedAt,
  finished_at: job.finishedAt,
  duration_ms: duration(job.startedAt, job.finishedAt),
  agent_id: job.agentId,
  conversation_id: job.conversationId,
  error: job.error,
  ...(job.outcome === 'lost' && { error_type: 'lost' }),
  job_id: job.jobId,
});

export const ofMonitor = (followUp: MonitorFollowUp): HistoryRow => ({
  kind: 'monitor',
  id: followUp.followUpId,
  title: followUp.title,
  status: MONITOR_WORDS[followUp.state]!,
  at: followUp.requestedAt,
  started_at: followUp.requestedAt,
  finished_at: followUp.settledAt,
  duration_ms: duration(followUp.requestedAt, followUp.settledAt),
  agent_id: null,
  conversation_id: followUp.conversationId,
  error: followUp.reason,
  monitor_id: followUp.monitorId,
  message_id: followUp.messageId,
});

export const ofWorkflow = (run: PastWorkflowRun, title: string): HistoryRow => ({
  kind: 'workflow',
  id: run.id,
  title,
  status: WORKFLOW_WORDS[run.status]!,
  at: run.startedAt,
  started_at: run.startedAt,
  finished_at: run.endedAt,
  duration_ms: duration(run.startedAt, run.endedAt),
  agent_id: run.agentId,
  conversation_id: run.conversationId,
  error: run.error,
  ...(run.reason !== null && { error_type: run.reason }),
  workflow_run_id: run.id,
  workflow_id: run.workflowId,
  message_id: run.turnId,
  run_id: run.runId,
});
