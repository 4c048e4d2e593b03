import type { AnalyticsScope, AnalyticsWindow } from '../analytics-filters.js';
import { Queries } from '../read-models.js';

export type TokensOfBucket = Readonly<{ bucket: string; group: string | null; prompt: number; generated: number }>;

/** The groupings of tokens, each with its column. */
const GROUPS = { none: null, model: 'model_id', agent: 'agent_id', source: 'source' } as const;
export type TokenGrouping = keyof typeof GROUPS;

export type ToolUseCount = Readonly<{ toolName: string; calls: number; failures: number }>;

/** Sums of tokens and of tool calls. */
export class AnalyticsQueries extends Queries {
  /** Tokens by bucket and group, the earliest first. Without `withMonitors`, tokens that monitors used are left out. */
  async tokens(scope: AnalyticsScope, window: AnalyticsWindow, by: TokenGrouping, withMonitors: boolean) {
    const { sql } = this;
    const column = GROUPS[by];
    return sql<TokensOfBucket[]>`
      select to_char(at at time zone 'UTC', ${window.format}) as bucket, ${column ? sql(column) : sql`null`} as "group",
        sum(prompt_tokens)::float8 as prompt, sum(completion_tokens)::float8 as generated
      from analytics.spent
      where ${this.of(scope)} and at >= ${window.since} and at <= ${window.until} ${withMonitors ? sql`` : sql`and source <> 'monitor'`}
      group by 1, 2 having sum(prompt_tokens + completion_tokens) > 0 order by 1, 2`;
  }

  /** The calls and failures of each tool, the most called first. */
  async tools(scope: AnalyticsScope, { since, until }: AnalyticsWindow): Promise<readonly ToolUseCount[]> {
    return this.sql<ToolUseCount[]>`
      select tool_name as "toolName", sum(calls)::integer as calls, sum(failures)::integer as failures
      from analytics.tool_use where ${this.of(scope)} and at >= ${since} and at <= ${until}
      group by tool_name order by calls desc, tool_name`;
  }

  private of(scope: AnalyticsScope) {
    const { sql } = this;
    return 'agentId' in scope ? sql`agent_id = ${scope.agentId}` : sql`owner_id = ${scope.ownerId}`;
  }
}
