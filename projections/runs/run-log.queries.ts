import { LOG_TEXTS_BYTES_MAX, logText, type LogFilter, type LogKey, type LogLevel, newestOf } from '../analytics-filters.js';
import { Queries } from '../read-models.js';

/** A webhook run that has ended. */
export type LoggedRun = Readonly<{
  id: string;
  at: Date;
  level: LogLevel;
  summary: string;
  output: string | null;
  error: string | null;
  status: string;
  agentId: string | null;
  isShortened: boolean;
}>;

export class RunLogQueries extends Queries {
  /** The newest runs that deliveries to a user's webhooks started. */
  async newest(filter: LogFilter, limit: number): Promise<readonly LogKey[]> {
    const { sql } = this;
    const { ownerId, agentId, level, search } = filter;
    const found = sql`
      select run_id as id, finished_at as at
      from runs.run
      where owner_id = ${ownerId} and finished_at is not null
        ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
        ${level === undefined ? sql`` : sql`and ${this.level} = ${level}`}
        ${search === undefined ? sql`` : sql`and strpos(lower(input), lower(${search})) > 0`}`;
    return newestOf(sql, found, filter, limit);
  }

  /** These runs. The older ones are shortened once the texts of the newer ones fill a page. */
  async entries(ids: readonly string[]): Promise<readonly LoggedRun[]> {
    if (ids.length === 0) return [];
    const { sql } = this;
    return sql<LoggedRun[]>`
      select id, at, level, error, status, "agentId", "isShortened",
        ${logText(sql, 'input')} as summary,
        ${logText(sql, 'output')} as output
      from (
        select run_id as id, finished_at as at, ${this.level} as level, error, status, agent_id as "agentId", input, output,
          sum(octet_length(input) + coalesce(octet_length(output), 0)) over (order by finished_at desc, run_id desc)
            > ${LOG_TEXTS_BYTES_MAX} as "isShortened"
        from runs.run where run_id = any(${[...ids]}::text[])
      ) logged`;
  }

  private get level() {
    return this.sql`case when status <> 'success' then 'error' when error is not null then 'warning' else 'info' end`;
  }
}
