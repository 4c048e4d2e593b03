/** Whose numbers: a user's own, or those of one agent, whoever asked it. */
export type AnalyticsScope = Readonly<{ ownerId: string } | { agentId: string }>;

/** Which time, and how the times of a bucket are written; `format` is one of Postgres. */
export type AnalyticsWindow = Readonly<{ since: Date; until: Date; format: string }>;

export type LogLevel = 'info' | 'warning' | 'error';

/** Which entries of a user's log: of one agent, of one level, with a text in their summary. */
export type LogFilter = Readonly<{
  ownerId: string;
  agentId: string | undefined;
  level: LogLevel | undefined;
  search: string | undefined;
}>;
