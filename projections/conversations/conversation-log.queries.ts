import type { PendingQuery, Row } from 'postgres';
import {
  LOG_TEXTS_BYTES_MAX,
  logText,
  type LogFilter,
  type LogKey,
  type LogLevel,
  newestOf,
  newestOfAll,
  turnsOfAgent,
} from '../analytics-filters.js';
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

/** The number of answers of all users among which those of a user are searched first. */
const RECENT_MAX = 2_000;

export class ConversationLogQueries extends Queries {
  /**
   * The newest answers of a user's conversations. They are searched among the newest answers of all users, and if too few of those
   * are the user's, in all conversations of the user. So the answers that others got meanwhile are not read.
   */
  async newest(filter: LogFilter, limit: number): Promise<readonly LogKey[]> {
    const { sql } = this;
    const { ownerId, agentId, level, search } = filter;
    const found = (turns: PendingQuery<Row[]>) => sql`
      select turn_id as id, changed_at as at from conversations.conversation cross join lateral (${turns}) as turn
      where turn.conversation_id = conversation.conversation_id and owner_id = ${ownerId}
        ${agentId === undefined ? sql`` : sql`and ${turnsOfAgent(sql, agentId)}`}
        ${level === undefined ? sql`` : sql`and ${this.level} = ${level}`}
        ${search === undefined ? sql`` : sql`and strpos(lower(question), lower(${search})) > 0`}`;
    const ended = sql`select * from conversations.turn where not superseded and ended is not null`;
    if (level !== undefined || search !== undefined) return newestOf(sql, found(ended), filter, limit);
    const recent = found(sql`${ended} order by changed_at desc, turn_id desc limit ${RECENT_MAX}`);
    const keys = await newestOf(sql, recent, filter, limit);
    if (keys.length === limit) return keys;
    // By their conversations, because the planner would read the answers of all users where it expects many to be theirs.
    return newestOfAll(sql, found(sql`${ended} and turn.conversation_id = conversation.conversation_id offset 0`), limit);
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
        select turn_id as id, changed_at as at, ${this.level} as level, attachments, coalesce(asked_agent_id, agent_id) as "agentId", question, response, sources,
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
