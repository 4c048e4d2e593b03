import { Injectable } from '@nestjs/common';
import { ConversationActivityQueries } from '../../../projections/conversations/conversation-activity.queries.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { JobHistoryQueries } from '../../../projections/jobs/job-history.queries.js';
import { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { RunQueries } from '../../../projections/runs/runs.queries.js';
import { ScheduleHistoryQueries } from '../../../projections/schedules/schedule-history.queries.js';
import { MonitorFollowUpQueries } from '../../../projections/follow-ups/monitor-follow-ups.queries.js';
import { WorkflowRunHistoryQueries } from '../../../projections/workflow-runs/workflow-run-history.queries.js';
import { WorkflowRunQueries } from '../../../projections/workflow-runs/workflow-runs.queries.js';
import { NO_TITLES, WorkflowNames } from './workflow-names.js';
import {
  type Approval,
  approval,
  comingMonitor,
  comingSchedule,
  type ComingRecord,
  markedChat,
  pausedSchedule,
  type RunningRecord,
  runningAnswer,
  runningJob,
  runningScheduleRun,
  runningWebhookRun,
  runningWorkflow,
} from './current-records.js';

/** The maximum lengths of the lists. Each list begins with its most important items. */
export const RUNNING_MAX = 100;
export const APPROVALS_MAX = 100;
export const PAUSED_SCHEDULES_MAX = 100;
export const UP_NEXT_MAX = 20;
export const MARKED_CHATS_MAX = 100;

const DAY_MS = 86_400_000;

/** The current activity of a user: running work, work that waits for the user, coming runs, and the counts of the last day. */
@Injectable()
export class CurrentActivity {
  constructor(
    private readonly chats: ConversationActivityQueries,
    private readonly conversations: ConversationQueries,
    private readonly schedules: ScheduleHistoryQueries,
    private readonly webhooks: RunQueries,
    private readonly jobs: JobHistoryQueries,
    private readonly monitors: MonitorQueries,
    private readonly followUps: MonitorFollowUpQueries,
    private readonly workflowRuns: WorkflowRunQueries,
    private readonly pastWorkflowRuns: WorkflowRunHistoryQueries,
    private readonly workflowNames: WorkflowNames,
  ) {}

  async of(ownerId: string, now: Date) {
    const [running, approvals, paused, upNext, counts, marked] = await Promise.all([
      this.running(ownerId),
      this.approvals(ownerId, now),
      this.schedules.paused(ownerId, PAUSED_SCHEDULES_MAX),
      this.upNext(ownerId, now),
      this.counts(ownerId, new Date(now.getTime() - DAY_MS)),
      this.conversations.needingAttention(ownerId, MARKED_CHATS_MAX),
    ]);
    return {
      running,
      needs_attention: { approvals, paused_schedules: paused.map(pausedSchedule) },
      up_next: upNext,
      counts,
      conversations: marked.map(markedChat),
    };
  }

  /** Running work of all kinds, the newest first. An answer that a workflow generates is shown as a workflow run. */
  private async running(ownerId: string): Promise<readonly RunningRecord[]> {
    const [answers, scheduled, webhooks, jobs, workflows] = await Promise.all([
      this.chats.answersUnderWay(ownerId, RUNNING_MAX),
      this.schedules.openRuns(ownerId, RUNNING_MAX),
      this.webhooks.underWay(ownerId, RUNNING_MAX),
      this.jobs.underWay(ownerId, RUNNING_MAX),
      this.workflowRuns.underWay(ownerId, RUNNING_MAX),
    ]);
    const needsTitles = webhooks.length + workflows.length > 0;
    const titles = needsTitles ? await this.workflowNames.titlesOf(ownerId) : NO_TITLES;
    const ofWorkflows = new Set(workflows.map(({ turnId }) => turnId));
    const all = [
      ...answers.filter(({ messageId }) => !ofWorkflows.has(messageId)).map(runningAnswer),
      ...workflows.map((run) => runningWorkflow(run, titles.of(run))),
      ...scheduled.map(runningScheduleRun),
      ...webhooks.map((run) => runningWebhookRun(run, titles.agents)),
      ...jobs.map(runningJob),
    ];
    return all.sort((one, other) => other.since.getTime() - one.since.getTime()).slice(0, RUNNING_MAX);
  }

  private async approvals(ownerId: string, now: Date): Promise<readonly Approval[]> {
    return (await this.chats.approvalsAwaited(ownerId, now, APPROVALS_MAX)).map(approval);
  }

  private async upNext(ownerId: string, now: Date): Promise<readonly ComingRecord[]> {
    const [schedules, monitors] = await Promise.all([
      this.schedules.comingNext(ownerId, now, UP_NEXT_MAX),
      this.monitors.activeOf(ownerId),
    ]);
    const all = [...schedules.map(comingSchedule), ...monitors.flatMap((monitor) => comingMonitor(monitor))];
    return all.sort((one, other) => one.at.getTime() - other.at.getTime()).slice(0, UP_NEXT_MAX);
  }

  /** The counts by kind. A webhook or schedule run that ran a workflow counts for both kinds. */
  private async counts(ownerId: string, since: Date) {
    const [schedule, webhook, job, monitor, workflow] = await Promise.all([
      this.schedules.counts(ownerId, since),
      this.webhooks.counts(ownerId, since),
      this.jobs.counts(ownerId, since),
      this.followUps.counts(ownerId, since),
      this.pastWorkflowRuns.counts(ownerId, since),
    ]);
    const kinds = { schedule, webhook, workflow, job, monitor };
    const sum = (of: 'runs' | 'failed') => Object.values(kinds).reduce((all, each) => all + each[of], 0);
    return { runs: sum('runs'), failed: sum('failed'), by_kind: kinds };
  }
}
