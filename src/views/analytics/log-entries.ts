import { Injectable } from '@nestjs/common';
import type { LogFilter, LogKey, LogLevel } from '../../../projections/analytics-filters.js';
import { ConversationLogQueries, type LoggedAnswer } from '../../../projections/conversations/conversation-log.queries.js';
import { type LoggedRun, RunLogQueries } from '../../../projections/runs/run-log.queries.js';
import { type LoggedScheduleRun, ScheduleLogQueries } from '../../../projections/schedules/schedule-log.queries.js';
import { type LoggedWorkflowRun, WorkflowRunLogQueries } from '../../../projections/workflow-runs/workflow-run-log.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';

export type LogEventType = 'chat' | 'schedule' | 'webhook' | 'workflow' | 'system';

/** An entry as clients see it: these fields and those of its type. */
export type LogEntry = Readonly<{
  id: string;
  event_type: LogEventType;
  action: string;
  level: LogLevel;
  user: string;
  question: string;
  timestamp: string;
}> &
  Readonly<Record<string, unknown>>;

type Logged = Readonly<{ id: string; at: Date; level: LogLevel }>;

const NAMELESS_WORKFLOW = 'Workflow run';

type Key = Readonly<{ type: LogEventType; rowId: string; id: string; timestamp: string }>;

/**
 * The log entries of a user, merged from several read models. A separate log would be a second place from which texts have to be
 * deleted.
 */
@Injectable()
export class LogEntries {
  constructor(
    private readonly conversations: ConversationLogQueries,
    private readonly runs: RunLogQueries,
    private readonly schedules: ScheduleLogQueries,
    private readonly workflowRuns: WorkflowRunLogQueries,
    private readonly workflows: WorkflowQueries,
  ) {}

  /** The entries on a page, the newest first. Only their own texts are read, not those of the entries on earlier pages. */
  async page(
    filter: LogFilter,
    type: LogEventType | undefined,
    { page, pageSize }: Readonly<{ page: number; pageSize: number }>,
  ): Promise<Readonly<{ logs: readonly LogEntry[]; hasMore: boolean }>> {
    const names = await this.workflows.namesOf(filter.ownerId);
    const newest = await this.newest(filter, type, names, page * pageSize + 1);
    const shown = newest.slice((page - 1) * pageSize, page * pageSize);
    const rowsOf = (wanted: LogEventType) => shown.flatMap((key) => (key.type === wanted ? [key.rowId] : []));
    const logs = await Promise.all([
      this.ofChats(filter, rowsOf('chat')),
      this.ofWebhooks(filter, rowsOf('webhook')),
      this.ofSchedules(filter, rowsOf('schedule')),
      this.ofWorkflows(filter, names, rowsOf('workflow')),
    ]);
    return { logs: logs.flat().toSorted(newestFirst), hasMore: newest.length > page * pageSize };
  }

  /** It is enough to read `limit` keys of each type, because no more of them can be among the first `limit`. */
  private async newest(
    filter: LogFilter,
    type: LogEventType | undefined,
    names: ReadonlyMap<string, string>,
    limit: number,
  ): Promise<readonly Key[]> {
    const of = async (each: LogEventType, read: () => Promise<readonly LogKey[]>): Promise<readonly Key[]> => {
      if (type !== undefined && type !== each) return [];
      return (await read()).map(({ id, at }) => ({ type: each, rowId: id, id: `${each}-${id}`, timestamp: at.toISOString() }));
    };
    const found = await Promise.all([
      of('chat', () => this.conversations.newest(filter, limit)),
      of('webhook', () => this.runs.newest(filter, limit)),
      of('schedule', () => this.schedules.newest(filter, limit)),
      of('workflow', () => this.workflowRuns.newest(filter, called(names, filter.search), limit)),
    ]);
    return found.flat().toSorted(newestFirst).slice(0, limit);
  }

  private async ofChats(filter: LogFilter, ids: readonly string[]): Promise<readonly LogEntry[]> {
    const rows = await this.conversations.entries(ids);
    return rows.map((row: LoggedAnswer) => ({
      ...entry('chat', 'stream_answer', filter, row, row.summary),
      ...shortened(row),
      response: row.response,
      sources: row.sources,
      tool_calls: row.toolCalls,
      agent_id: row.agentId,
      attachments: row.attachments,
    }));
  }

  private async ofWebhooks(filter: LogFilter, ids: readonly string[]): Promise<readonly LogEntry[]> {
    const rows = await this.runs.entries(ids);
    return rows.map((row: LoggedRun) => ({
      ...entry('webhook', 'webhook_run', filter, row, row.summary),
      ...shortened(row),
      endpoint: 'webhook',
      stacks: [],
      status: row.status,
      response: row.output,
      error: row.error,
      agent_id: row.agentId,
    }));
  }

  private async ofSchedules(filter: LogFilter, ids: readonly string[]): Promise<readonly LogEntry[]> {
    const rows = await this.schedules.entries(ids);
    return rows.map((row: LoggedScheduleRun) => ({
      ...entry('schedule', 'scheduled_run', filter, row, row.summary),
      ...shortened(row),
      status: row.status,
      trigger_source: row.triggerSource,
      schedule_name: row.scheduleName,
      instruction: row.instruction,
      output: row.output,
      error: row.error,
      error_type: row.errorType,
      prompt_tokens: row.promptTokens,
      generated_tokens: row.generatedTokens,
      conversation_id: row.conversationId,
      scheduled_for: row.scheduledFor.toISOString(),
      started_at: row.startedAt?.toISOString() ?? null,
      finished_at: row.finishedAt?.toISOString() ?? null,
    }));
  }

  private async ofWorkflows(
    filter: LogFilter,
    names: ReadonlyMap<string, string>,
    ids: readonly string[],
  ): Promise<readonly LogEntry[]> {
    const rows = await this.workflowRuns.entries(ids);
    return rows.map((row: LoggedWorkflowRun) => {
      const name = names.get(row.workflowId ?? '') ?? null;
      return {
        ...entry('workflow', 'workflow_run', filter, row, name ?? NAMELESS_WORKFLOW),
        status: row.status,
        workflow_name: name,
        result: null,
        error: row.error,
        steps: row.steps,
        started_at: row.startedAt.toISOString(),
        finished_at: row.at.toISOString(),
      };
    });
  }
}

/** Tells clients that an entry has only the beginnings of its texts. */
const shortened = ({ isShortened }: Readonly<{ isShortened: boolean }>) => (isShortened ? { is_shortened: true } : {});

const entry = (type: LogEventType, action: string, { ownerId }: LogFilter, { id, at, level }: Logged, question: string) => ({
  id: `${type}-${id}`,
  event_type: type,
  action,
  level,
  user: ownerId,
  question,
  timestamp: at.toISOString(),
});

/** The ids of the workflows whose names contain the text. Undefined without a text: all workflows. */
const called = (names: ReadonlyMap<string, string>, search: string | undefined): readonly string[] | undefined =>
  search === undefined
    ? undefined
    : [...names].flatMap(([id, name]) => (name.toLowerCase().includes(search.toLowerCase()) ? [id] : []));

type Sorted = Pick<LogEntry, 'id' | 'timestamp'>;

/** Entries with the same time are sorted by id, so that no entry is on two pages. */
const newestFirst = (one: Sorted, other: Sorted): number =>
  one.timestamp === other.timestamp ? (one.id < other.id ? 1 : -1) : one.timestamp < other.timestamp ? 1 : -1;
