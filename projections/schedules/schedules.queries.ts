import { Queries } from '../read-models.js';

export type ScheduleRecord = Readonly<{
  id: string;
  ownerId: string;
  agentId: string | null;
  originConversationId: string | null;
  createdVia: 'chat' | 'ui';
  status: 'active' | 'paused' | 'completed' | 'cancelled';
  name: string | null;
  instruction: string;
  triggerType: 'once' | 'recurring';
  cron: string | null;
  runAt: Date | null;
  timezone: string;
  endAt: Date | null;
  toolAllowlist: readonly string[];
  modelId: string | null;
  tokenBudget: number | null;
  failuresInARow: number;
  /** The first slot that is not decided yet, also while the schedule is paused. */
  nextSlotAt: Date | null;
  lastRunAt: Date | null;
  /** Earlier slots belong to a previous time of the schedule, or to a pause. */
  markedSince: Date;
  createdAt: Date;
  updatedAt: Date;
}>;

export type ScheduleRunStatus = 'pending' | 'running' | 'success' | 'failed' | 'timeout' | 'skipped' | 'missed' | 'paused';

/** The outcome of a slot or of a manual run. */
export type ScheduleRunRecord = Readonly<{
  id: string;
  scheduleId: string;
  status: ScheduleRunStatus;
  triggerSource: 'cron' | 'manual';
  scheduledFor: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  errorType: string | null;
  error: string | null;
  output: string | null;
  isOutputTruncated: boolean;
  promptTokens: number;
  generatedTokens: number;
  /** The conversation to which its output was added. */
  conversationId: string | null;
  messageId: string | null;
  createdAt: Date;
  updatedAt: Date;
}>;

/** The chat whose coming tasks are listed. */
export type ChatOfTasks = Readonly<{ ownerId: string; agentId: string | null; conversationId: string }>;

/** A schedule with a due slot that is not decided yet. */
export type DueSchedule = Readonly<{ scheduleId: string; nextSlotAt: Date }>;

export type RunStatistics = Readonly<{
  runs: number;
  failed: number;
  tokens: number;
  /** `ownerId`: whose schedule it is. */
  latestFailure: (ScheduleRunRecord & Readonly<{ ownerId: string }>) | undefined;
}>;

export class ScheduleQueries extends Queries {
  async byId(scheduleId: string): Promise<ScheduleRecord | undefined> {
    const [row] = await this.sql<
      ScheduleRecord[]
    >`select ${this.columns} from schedules.schedule where schedule_id = ${scheduleId}`;
    return row;
  }

  /** An agent's schedules, newest first. */
  async ofAgent(agentId: string): Promise<readonly ScheduleRecord[]> {
    return this.sql<ScheduleRecord[]>`
      select ${this.columns} from schedules.schedule where agent_id = ${agentId} order by created_at desc, schedule_id`;
  }

  /** The ids of a user's active and paused schedules. */
  async openOf(ownerId: string): Promise<readonly string[]> {
    const rows = await this.sql`
      select schedule_id from schedules.schedule where owner_id = ${ownerId} and status in ('active', 'paused')`;
    return rows.map((row) => row['schedule_id'] as string);
  }

  /**
   * The coming one-time schedules of a chat, the next first: those of its agent, or without an agent those that were created in
   * it.
   */
  async tasksIn({ ownerId, agentId, conversationId }: ChatOfTasks, limit: number): Promise<readonly ScheduleRecord[]> {
    const inScope =
      agentId === null
        ? this.sql`agent_id is null and origin_conversation_id = ${conversationId}`
        : this.sql`agent_id = ${agentId}`;
    return this.sql<ScheduleRecord[]>`
      select ${this.columns} from schedules.schedule
      where ${inScope} and owner_id = ${ownerId} and status = 'active' and trigger_type = 'once'
      order by next_slot_at nulls last, schedule_id limit ${limit}`;
  }

  /** The active and paused schedules that were created in a chat without an agent. */
  async openOfChat(conversationId: string): Promise<readonly ScheduleRecord[]> {
    return this.sql<ScheduleRecord[]>`
      select ${this.columns} from schedules.schedule
      where origin_conversation_id = ${conversationId} and agent_id is null and status in ('active', 'paused')`;
  }

  /**
   * Schedules with a due slot, the longest waiting first. `after`: the last item of the previous page. The slots of paused
   * recurring schedules are decided when the pause ends.
   */
  async due(now: Date, limit: number, after?: DueSchedule): Promise<readonly DueSchedule[]> {
    const { nextSlotAt, scheduleId } = after ?? { nextSlotAt: new Date(0), scheduleId: '' };
    return this.sql<DueSchedule[]>`
      select schedule_id as "scheduleId", next_slot_at as "nextSlotAt" from schedules.schedule
      where next_slot_at <= ${now} and (status <> 'paused' or trigger_type = 'once') and (next_slot_at, schedule_id) > (${nextSlotAt}, ${scheduleId})
      order by next_slot_at, schedule_id limit ${limit}`;
  }

  /** The ids of schedules whose open run has been open since before a time. */
  async runningSince(before: Date, limit: number): Promise<readonly string[]> {
    const rows = await this.sql`
      select schedule_id from schedules.schedule where open_run_since < ${before} order by open_run_since limit ${limit}`;
    return rows.map((row) => row['schedule_id'] as string);
  }

  /** Runs and slots without a run, the latest first. Slots during a pause are left out. */
  async runs(scheduleId: string, limit: number, offset: number): Promise<readonly ScheduleRunRecord[]> {
    return this.sql<ScheduleRunRecord[]>`
      select ${this.runColumns} from schedules.run where schedule_id = ${scheduleId} and status <> 'paused'
      order by scheduled_for desc, run_id limit ${limit} offset ${offset}`;
  }

  async run(scheduleId: string, runId: string): Promise<ScheduleRunRecord | undefined> {
    const [row] = await this.sql<ScheduleRunRecord[]>`
      select ${this.runColumns} from schedules.run where run_id = ${runId} and schedule_id = ${scheduleId}`;
    return row;
  }

  /** Statistics of the runs of an agent's schedules since a time. */
  async statistics(agentId: string, since: Date): Promise<RunStatistics> {
    const [[sums], failures] = await Promise.all([
      this.sql<Omit<RunStatistics, 'latestFailure'>[]>`
        select count(*)::integer as runs, count(*) filter (where run.status in ('failed', 'timeout'))::integer as failed,
          coalesce(sum(prompt_tokens + generated_tokens), 0)::float8 as tokens
        from schedules.run join schedules.schedule using (schedule_id)
        where agent_id = ${agentId} and scheduled_for >= ${since} and run.status in ('pending', 'running', 'success', 'failed', 'timeout')`,
      this.sql<NonNullable<RunStatistics['latestFailure']>[]>`
        select ${this.runColumns}, (select owner_id from schedules.schedule where schedule_id = run.schedule_id) as "ownerId"
        from schedules.run
        where schedule_id in (select schedule_id from schedules.schedule where agent_id = ${agentId})
          and scheduled_for >= ${since} and status in ('failed', 'timeout')
        order by scheduled_for desc, run_id limit 1`,
    ]);
    return { ...sums!, latestFailure: failures[0] };
  }

  private get columns() {
    return this.sql`schedule_id as id, owner_id as "ownerId", agent_id as "agentId",
      origin_conversation_id as "originConversationId", created_via as "createdVia", status, name, instruction,
      trigger_type as "triggerType", cron, run_at as "runAt", timezone, end_at as "endAt",
      tool_allowlist as "toolAllowlist", model_id as "modelId", token_budget::float8 as "tokenBudget",
      failures_in_a_row as "failuresInARow", next_slot_at as "nextSlotAt", last_run_at as "lastRunAt",
      marked_since as "markedSince", created_at as "createdAt", updated_at as "updatedAt"`;
  }

  private get runColumns() {
    return this.sql`run_id as id, schedule_id as "scheduleId", status, trigger_source as "triggerSource",
      scheduled_for as "scheduledFor", started_at as "startedAt", finished_at as "finishedAt",
      error_type as "errorType", error, output, is_output_truncated as "isOutputTruncated",
      prompt_tokens::float8 as "promptTokens", generated_tokens::float8 as "generatedTokens",
      conversation_id as "conversationId", message_id as "messageId", created_at as "createdAt",
      updated_at as "updatedAt"`;
  }
}
