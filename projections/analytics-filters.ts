/** The subject of the numbers: one owner, or one agent for all users who asked it. */
export type AnalyticsScope = Readonly<{ ownerId: string } | { agentId: string }>;

/** The period of the numbers. `format`: the pattern of Postgres' `to_char` that turns a time into the name of its bucket. */
export type AnalyticsWindow = Readonly<{ since: Date; until: Date; format: string }>;

export type LogLevel = 'info' | 'warning' | 'error';

/** The entries of a user's log to return: of one agent, of one level, with a text in their summary. */
export type LogFilter = Readonly<{
  ownerId: string;
  agentId: string | undefined;
  level: LogLevel | undefined;
  search: string | undefined;
}>;
