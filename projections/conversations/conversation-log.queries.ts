import type { LogFilter, LogLevel } from '../analytics-filters.js';
import { Queries } from '../read-models.js';

/** An answer that has ended, with its question. */
export type LoggedAnswer = Readonly<{
  id: string;
  at: Date;
  level: LogLevel;
  summary: string;
  response: string;
  sources: unknown;
  toolCalls: unknown;
  attachments: unknown;
  agentId: string | null;
}>;

export class ConversationLogQueries extends Queries {
  /** The newest answers of a user's conversations. */
  async newest({ ownerId, agentId, level, search }: LogFilter, limit: number): Promise<readonly LoggedAnswer[]> {
    const { sql } = this;
    const levelOf = sql`case status when 'failed' then 'error' else 'info' end`;
    return sql<LoggedAnswer[]>`
      select turn_id as id, changed_at as at, ${levelOf} as level, question as summary, response, sources,
        tool_calls as "toolCalls", attachments, agent_id as "agentId"
      from conversations.conversation join conversations.turn using (conversation_id)
      where owner_id = ${ownerId} and not superseded and ended is not null
        ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
        ${level === undefined ? sql`` : sql`and ${levelOf} = ${level}`}
        ${search === undefined ? sql`` : sql`and strpos(lower(question), lower(${search})) > 0`}
      order by changed_at desc, turn_id desc limit ${limit}`;
  }
}
