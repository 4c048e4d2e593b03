import { LOG_TEXTS_BYTES_MAX, logText, type LogFilter, type LogKey, type LogLevel, newestOf } from '../analytics-filters.js';
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
  isShortened: boolean;
}>;

export class ConversationLogQueries extends Queries {
  /** The newest answers of a user's conversations. */
  async newest(filter: LogFilter, limit: number): Promise<readonly LogKey[]> {
    const { sql } = this;
    const { ownerId, agentId, level, search } = filter;
    const found = sql`
      select turn_id as id, changed_at as at
      from conversations.conversation join conversations.turn using (conversation_id)
      where owner_id = ${ownerId} and not superseded and ended is not null
        ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
        ${level === undefined ? sql`` : sql`and ${this.level} = ${level}`}
        ${search === undefined ? sql`` : sql`and strpos(lower(question), lower(${search})) > 0`}`;
    return newestOf(sql, found, filter, limit);
  }

  /** These answers. The older ones are shortened once the texts of the newer ones fill a page. */
  async entries(ids: readonly string[]): Promise<readonly LoggedAnswer[]> {
    if (ids.length === 0) return [];
    const { sql } = this;
    return sql<LoggedAnswer[]>`
      select id, at, level, attachments, "agentId", "isShortened",
        ${logText(sql, 'question')} as summary,
        ${logText(sql, 'response')} as response,
        case when "isShortened" then '[]' else sources end as sources,
        case when "isShortened" then '[]' else tool_calls end as "toolCalls"
      from (
        select turn_id as id, changed_at as at, ${this.level} as level, attachments, agent_id as "agentId", question, response, sources,
          tool_calls, sum(
            octet_length(question) + octet_length(response) + octet_length(sources::text) + octet_length(tool_calls::text)
          ) over (order by changed_at desc, turn_id desc) > ${LOG_TEXTS_BYTES_MAX} as "isShortened"
        from conversations.conversation join conversations.turn using (conversation_id)
        where turn_id = any(${[...ids]}::text[])
      ) logged`;
  }

  private get level() {
    return this.sql`case status when 'failed' then 'error' else 'info' end`;
  }
}
