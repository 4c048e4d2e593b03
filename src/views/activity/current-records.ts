import type { AnswerUnderWay, ApprovalAwaited } from '../../../projections/conversations/conversation-activity.queries.js';
import type { ListedConversation } from '../../../projections/conversations/conversations.queries.js';
import type { JobUnderWay } from '../../../projections/jobs/job-history.queries.js';
import type { MonitorRecord } from '../../../projections/monitors/monitors.queries.js';
import type { WebhookRunRecord } from '../../../projections/runs/runs.queries.js';
import type { ComingSchedule, OpenScheduleRun, PausedSchedule } from '../../../projections/schedules/schedule-history.queries.js';
import type { WorkflowRunRecord } from '../../../projections/workflow-runs/workflow-runs.queries.js';
import { NAMELESS_WEBHOOK } from './history-rows.js';

/** Queued or running work. `since`: when it was requested or due. */
export type RunningRecord = Readonly<{
  kind: 'answer' | 'schedule' | 'webhook' | 'workflow' | 'job';
  id: string;
  title: string;
  /** `pending`: it has not started. */
  status: 'pending' | 'running';
  since: Date;
  started_at: Date | null;
  agent_id: string | null;
  conversation_id: string | null;
}> &
  Readonly<
    Partial<
      Record<'message_id' | 'run_id' | 'schedule_id' | 'task_id' | 'job_id' | 'workflow_run_id' | 'workflow_id', string | null>
    >
  >;

export type Approval = ReturnType<typeof approval>;
export type ComingRecord = ReturnType<typeof comingSchedule> | ReturnType<typeof comingMonitor>[number];

export const runningAnswer = (answer: AnswerUnderWay): RunningRecord => ({
  kind: 'answer',
  id: answer.messageId,
  title: answer.title,
  status: answer.status === 'asked' ? 'pending' : 'running',
  since: answer.askedAt,
  started_at: answer.askedAt,
  agent_id: answer.agentId,
  conversation_id: answer.conversationId,
  message_id: answer.messageId,
});

export const runningScheduleRun = (run: OpenScheduleRun): RunningRecord => ({
  kind: 'schedule',
  id: run.runId,
  title: run.title,
  status: run.status,
  since: run.scheduledFor,
  started_at: run.startedAt,
  agent_id: run.agentId,
  conversation_id: null,
  run_id: run.runId,
  schedule_id: run.scheduleId,
});

export const runningWebhookRun = (run: WebhookRunRecord, names: ReadonlyMap<string, string>): RunningRecord => ({
  kind: 'webhook',
  id: run.id,
  title: names.get(run.agentId ?? '') ?? NAMELESS_WEBHOOK,
  status: run.status === 'queued' ? 'pending' : 'running',
  since: run.queuedAt,
  started_at: run.startedAt,
  agent_id: run.agentId,
  conversation_id: null,
  run_id: run.id,
  task_id: run.id,
});

export const runningWorkflow = (run: WorkflowRunRecord, title: string): RunningRecord => ({
  kind: 'workflow',
  id: run.id,
  title,
  status: 'running',
  since: run.startedAt,
  started_at: run.startedAt,
  agent_id: run.agentId,
  conversation_id: run.conversationId,
  message_id: run.turnId,
  run_id: run.runId,
  workflow_run_id: run.id,
  workflow_id: run.workflowId,
});

export const runningJob = (job: JobUnderWay): RunningRecord => ({
  kind: 'job',
  id: job.jobId,
  title: job.title,
  status: 'running',
  since: job.startedAt,
  started_at: job.startedAt,
  agent_id: job.agentId,
  conversation_id: job.conversationId,
  job_id: job.jobId,
});

/** The calls that wait for an approval, without calls that wait for the client's own code. */
export const approval = ({ conversationId, messageId, agentId, title, calls, since, expiresAt }: ApprovalAwaited) => ({
  conversation_id: conversationId,
  message_id: messageId,
  agent_id: agentId,
  title,
  calls: calls
    .filter(({ pauseType }) => pauseType === 'awaiting_approval')
    .map(({ callId, toolName, actionName, arguments: given }) => ({
      call_id: callId,
      tool_name: toolName,
      action_name: actionName,
      arguments: given,
    })),
  created_at: since,
  expires_at: expiresAt,
});

export const pausedSchedule = (schedule: PausedSchedule) => ({
  schedule_id: schedule.scheduleId,
  name: schedule.title,
  agent_id: schedule.agentId,
  auto_paused: schedule.isAutoPaused,
  consecutive_failure_count: schedule.failuresInARow,
  last_run_at: schedule.lastRunAt,
});

export const comingSchedule = ({ scheduleId, title, agentId, at }: ComingSchedule) =>
  ({ kind: 'schedule', at, title, schedule_id: scheduleId, agent_id: agentId }) as const;

/** The next check of a monitor. A monitor whose check is running has none. */
export const comingMonitor = ({ id, definition, agentId, conversationId, nextCheckAt }: MonitorRecord) =>
  nextCheckAt
    ? [
        {
          kind: 'monitor',
          at: nextCheckAt,
          title: definition.description,
          monitor_id: id,
          agent_id: agentId,
          conversation_id: conversationId,
        } as const,
      ]
    : [];

export const markedChat = ({ id, name, agent_id: agentId, date, mark }: ListedConversation) => ({
  conversation_id: id,
  name,
  agent_id: agentId,
  date,
  mark,
});

/** A monitor, as a calendar shows it. */
export const monitorRecord = (monitor: MonitorRecord) => ({
  monitor_id: monitor.id,
  description: monitor.definition.description,
  status: monitor.status,
  conversation_id: monitor.conversationId,
  agent_id: monitor.agentId,
  interval_seconds: monitor.definition.intervalSeconds,
  next_check_at: monitor.nextCheckAt,
  last_checked_at: monitor.lastCheckedAt,
  expires_at: monitor.expiresAt,
});
