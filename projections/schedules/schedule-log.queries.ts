import type { LogFilter, LogLevel } from '../analytics-filters.js';
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
}>;

export class ScheduleLogQueries extends Queries {
  /** The newest runs of a user's schedules. */
  async newest({ ownerId, agentId, level, search }: LogFilter, limit: number): Promise<readonly LoggedScheduleRun[]> {
    const { sql } = this;
    return sql<LoggedScheduleRun[]>`
      select * from (
        select run_id as id, coalesce(finished_at, started_at, scheduled_for) as at,
          case when run.status in ('failed', 'timeout') then 'error' when run.status = 'success' then 'info' else 'warning' end as level,
          coalesce(name, instruction) as summary, run.status, trigger_source as "triggerSource", name as "scheduleName", instruction,
          output, error, error_type as "errorType", prompt_tokens::float8 as "promptTokens", generated_tokens::float8 as "generatedTokens",
          run.conversation_id as "conversationId", scheduled_for as "scheduledFor", started_at as "startedAt", finished_at as "finishedAt"
        from schedules.schedule join schedules.run using (schedule_id)
        where owner_id = ${ownerId} and run.status in ('success', 'failed', 'timeout', 'skipped', 'missed')
          ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
      ) logged
      where true ${level === undefined ? sql`` : sql`and level = ${level}`}
        ${search === undefined ? sql`` : sql`and strpos(lower(summary), lower(${search})) > 0`}
      order by at desc, id desc limit ${limit}`;
  }
}
