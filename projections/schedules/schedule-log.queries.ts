import { LOG_TEXTS_BYTES_MAX, logText, type LogFilter, type LogKey, type LogLevel } from '../analytics-filters.js';
import { Queries } from '../read-models.js';

/** An ended run of a schedule, or a slot without a run. */
export type LoggedScheduleRun = Readonly<{
  id: string;
  at: Date;
  level: LogLevel;
  summary: string;
  status: string;
  triggerSource: string;
  scheduleName: string | null;
  instruction: string;
  output: string | null;
  error: string | null;
  errorType: string | null;
  promptTokens: number;
  generatedTokens: number;
  conversationId: string | null;
  scheduledFor: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  isShortened: boolean;
}>;

export class ScheduleLogQueries extends Queries {
  /** The newest runs of a user's schedules: those among the newest of each schedule. */
  async newest({ ownerId, agentId, level, search }: LogFilter, limit: number): Promise<readonly LogKey[]> {
    const { sql } = this;
    return sql<LogKey[]>`
      select id, at
      from schedules.schedule cross join lateral (
        select run_id as id, ${this.at} as at from schedules.run
        where run.schedule_id = schedule.schedule_id and run.status in ('success', 'failed', 'timeout', 'skipped', 'missed')
          ${level === undefined ? sql`` : sql`and ${this.level} = ${level}`}
        order by at desc, id desc limit ${limit}
      ) newest
      where owner_id = ${ownerId}
        ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
        ${search === undefined ? sql`` : sql`and strpos(lower(coalesce(name, instruction)), lower(${search})) > 0`}
      order by at desc, id desc limit ${limit}`;
  }

  /** These runs. The older ones are shortened once the texts of the newer ones fill a page. */
  async entries(ids: readonly string[]): Promise<readonly LoggedScheduleRun[]> {
    if (ids.length === 0) return [];
    const { sql } = this;
    return sql<LoggedScheduleRun[]>`
      select id, at, level, status, "triggerSource", "scheduleName", error, "errorType", "promptTokens", "generatedTokens",
        "conversationId", "scheduledFor", "startedAt", "finishedAt", "isShortened",
        ${logText(sql, 'summary')} as summary,
        ${logText(sql, 'instruction')} as instruction,
        ${logText(sql, 'output')} as output
      from (
        select run_id as id, ${this.at} as at, ${this.level} as level, run.status, trigger_source as "triggerSource", name as "scheduleName",
          coalesce(name, instruction) as summary, instruction, output, error, error_type as "errorType",
          prompt_tokens::float8 as "promptTokens", generated_tokens::float8 as "generatedTokens",
          run.conversation_id as "conversationId", scheduled_for as "scheduledFor", started_at as "startedAt",
          finished_at as "finishedAt",
          sum(octet_length(instruction) + coalesce(octet_length(output), 0)) over (order by ${this.at} desc, run_id desc)
            > ${LOG_TEXTS_BYTES_MAX} as "isShortened"
        from schedules.schedule join schedules.run using (schedule_id)
        where run_id = any(${[...ids]}::text[])
      ) logged`;
  }

  private get at() {
    return this.sql`coalesce(finished_at, started_at, scheduled_for)`;
  }

  private get level() {
    return this.sql`case when run.status in ('failed', 'timeout') then 'error' when run.status = 'success' then 'info' else 'warning' end`;
  }
}
