import { Injectable } from '@nestjs/common';
import { AgentNameQueries } from '../../../projections/agents/agent-names.queries.js';
import { JobHistoryQueries } from '../../../projections/jobs/job-history.queries.js';
import { RunQueries } from '../../../projections/runs/runs.queries.js';
import { ScheduleHistoryQueries } from '../../../projections/schedules/schedule-history.queries.js';
import { MonitorFollowUpQueries } from '../../../projections/follow-ups/monitor-follow-ups.queries.js';
import { WorkflowRunHistoryQueries } from '../../../projections/workflow-runs/workflow-run-history.queries.js';
import { ActivityRules } from './activity-rules.js';
import { type HistoryKind, type HistoryQuestion, pageOf } from './history.policy.js';
import {
  type HistoryRow,
  inWordsOf,
  JOB_WORDS,
  MONITOR_WORDS,
  NAMELESS_WEBHOOK,
  ofJob,
  ofMonitor,
  ofSchedule,
  ofWebhook,
  ofWorkflow,
  SCHEDULE_WORDS,
  WEBHOOK_WORDS,
  WORKFLOW_WORDS,
} from './history-rows.js';
import { WorkflowNames } from './workflow-names.js';

const DAY_MS = 86_400_000;

type Asked = Readonly<{ ownerId: string; now: Date; question: HistoryQuestion; rows: number }>;

/**
 * The past runs of a user, all kinds in one order. Runs past their retention period are not shown, even if they are not purged
 * yet.
 */
@Injectable()
export class RunHistory {
  private readonly sources: Readonly<Record<HistoryKind, (asked: Asked) => Promise<readonly HistoryRow[]>>> = {
    schedule: (asked) => this.ofSchedules(asked),
    webhook: (asked) => this.ofWebhooks(asked),
    workflow: (asked) => this.ofWorkflows(asked),
    job: (asked) => this.ofJobs(asked),
    monitor: (asked) => this.ofMonitors(asked),
  };

  constructor(
    private readonly schedules: ScheduleHistoryQueries,
    private readonly webhooks: RunQueries,
    private readonly agents: AgentNameQueries,
    private readonly jobs: JobHistoryQueries,
    private readonly followUps: MonitorFollowUpQueries,
    private readonly workflowRuns: WorkflowRunHistoryQueries,
    private readonly workflowNames: WorkflowNames,
    private readonly rules: ActivityRules,
  ) {}

  async page(ownerId: string, question: HistoryQuestion, now: Date) {
    const { kinds, offset, limit } = question;
    const asked = { ownerId, now, question, rows: offset + limit + 1 };
    return pageOf(await Promise.all(kinds.map((kind) => this.sources[kind](asked))), offset, limit);
  }

  private async ofSchedules({ ownerId, now, question, rows }: Asked): Promise<readonly HistoryRow[]> {
    const { statuses, text } = question;
    const missedUntil = new Date(now.getTime() - this.rules.missedAfterMs + 1);
    const asked = { since: since(question, now), missedUntil, statuses: inWordsOf(SCHEDULE_WORDS, statuses), text };
    return (await this.schedules.past(ownerId, asked, rows)).map(ofSchedule);
  }

  private async ofWebhooks({ ownerId, now, question, rows }: Asked): Promise<readonly HistoryRow[]> {
    const names = await this.agents.ownedBy(ownerId);
    const { text, statuses } = question;
    const isCalledSo = (name: string) => name.toLowerCase().includes(text.toLowerCase());
    const agentIds = text === '' ? undefined : [...names].flatMap(([id, name]) => (isCalledSo(name) ? [id] : []));
    const asked = {
      since: since(question, now, this.rules.traceRetentionMs),
      statuses: inWordsOf(WEBHOOK_WORDS, statuses),
      agentIds,
    };
    const runs = await this.webhooks.finished(ownerId, asked, rows);
    return runs.map((run) => ofWebhook(run, names.get(run.agentId ?? '') ?? NAMELESS_WEBHOOK));
  }

  private async ofJobs({ ownerId, now, question, rows }: Asked): Promise<readonly HistoryRow[]> {
    const { text, statuses } = question;
    const asked = {
      since: since(question, now, this.rules.backgroundRetentionMs),
      outcomes: inWordsOf(JOB_WORDS, statuses),
      text,
    };
    return (await this.jobs.past(ownerId, asked, rows)).map(ofJob);
  }

  /** Workflow runs have no retention period, unlike their traces. */
  private async ofWorkflows({ ownerId, now, question, rows }: Asked): Promise<readonly HistoryRow[]> {
    const titles = await this.workflowNames.titlesOf(ownerId);
    const { text, statuses } = question;
    const wanted = {
      since: since(question, now),
      statuses: inWordsOf(WORKFLOW_WORDS, statuses),
      of: text === '' ? undefined : titles.containing(text),
    };
    return (await this.workflowRuns.past(ownerId, wanted, rows)).map((run) => ofWorkflow(run, titles.of(run)));
  }

  private async ofMonitors({ ownerId, now, question, rows }: Asked): Promise<readonly HistoryRow[]> {
    const { text, statuses } = question;
    const asked = {
      since: since(question, now, this.rules.backgroundRetentionMs),
      states: inWordsOf(MONITOR_WORDS, statuses),
      text,
    };
    return (await this.followUps.past(ownerId, asked, rows)).map(ofMonitor);
  }
}

const since = ({ days }: HistoryQuestion, now: Date, keptMs = Infinity): Date =>
  new Date(now.getTime() - Math.min(days * DAY_MS, keptMs));
