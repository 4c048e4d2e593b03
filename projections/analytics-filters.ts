import type { PendingQuery, Row, Sql } from 'postgres';

/** The subject of the numbers: one owner, or one agent for all users who asked it. */
export type AnalyticsScope = Readonly<{ ownerId: string } | { agentId: string }>;

/** The period of the numbers. `format`: the pattern of Postgres' `to_char` that turns a time into the name of its bucket. */
export type AnalyticsWindow = Readonly<{ since: Date; until: Date; format: string }>;

export type LogLevel = 'info' | 'warning' | 'error';

/**
 * Turns that are an agent's: those that asked it, and added answers of its conversations. The first condition alone lets an index
 * find them.
 */
export const turnsOfAgent = (sql: Sql, agentId: string) => sql`
  (asked_agent_id is null or asked_agent_id = ${agentId}) and coalesce(asked_agent_id, agent_id) = ${agentId}`;

/** The entries of a user's log to return: of one agent, of one level, with a text in their summary. */
export type LogFilter = Readonly<{
  ownerId: string;
  agentId: string | undefined;
  level: LogLevel | undefined;
  search: string | undefined;
}>;

/** Names an entry of a log, before its texts are read. */
export type LogKey = Readonly<{ id: string; at: Date }>;

/**
 * The newest of the entries that a query finds. With a level or a text few of them may match. Then all are found before they are
 * sorted, because the planner expects many matches and would look them up one by one, in order.
 */
export const newestOf = (sql: Sql, found: PendingQuery<Row[]>, { level, search }: LogFilter, limit: number) =>
  level === undefined && search === undefined
    ? sql<LogKey[]>`${found} order by at desc, id desc limit ${limit}`
    : newestOfAll(sql, found, limit);

/** The newest of the entries that a query finds, which are all found before they are sorted. */
export const newestOfAll = (sql: Sql, found: PendingQuery<Row[]>, limit: number) =>
  sql<LogKey[]>`with found as materialized (${found}) select id, at from found order by at desc, id desc limit ${limit}`;

/** The size of the texts of the entries of one type on a page, in UTF-8. A user may have thousands of entries of 1 MiB. */
export const LOG_TEXTS_BYTES_MAX = 8 * 1024 * 1024;
/** The length of the beginning that remains of each text of an entry once the texts before it fill the page. */
export const LOG_BEGINNING_CHARACTERS = 500;

/** A column with a text of an entry, or its beginning in rows that are marked with `"isShortened"`. */
export const logText = (sql: Sql, column: string) =>
  sql`case when "isShortened" then left(${sql(column)}, ${LOG_BEGINNING_CHARACTERS}) else ${sql(column)} end`;
