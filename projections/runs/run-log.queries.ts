import type { LogFilter, LogLevel } from '../analytics-filters.js';
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
}>;

export class RunLogQueries extends Queries {
  /** The newest runs that deliveries to a user's webhooks started. */
  async newest({ ownerId, agentId, level, search }: LogFilter, limit: number): Promise<readonly LoggedRun[]> {
    const { sql } = this;
    const levelOf = sql`case when status <> 'success' then 'error' when error is not null then 'warning' else 'info' end`;
    return sql<LoggedRun[]>`
      select run_id as id, finished_at as at, ${levelOf} as level, input as summary, output, error, status, agent_id as "agentId"
      from runs.run
      where owner_id = ${ownerId} and finished_at is not null
        ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
        ${level === undefined ? sql`` : sql`and ${levelOf} = ${level}`}
        ${search === undefined ? sql`` : sql`and strpos(lower(input), lower(${search})) > 0`}
      order by finished_at desc, run_id desc limit ${limit}`;
  }
}
