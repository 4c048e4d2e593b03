import { Queries } from '../read-models.js';

type TraceStatus = 'running' | 'ok' | 'error' | 'stopped';

export type TraceRecord = Readonly<{
  id: string;
  source: string;
  name: string;
  status: TraceStatus;
  requestId: string;
  messageId: string | null;
  conversationId: string | null;
  activityId: string | null;
  workflowRunId: string | null;
  userId: string | null;
  agentId: string | null;
  modelId: string | null;
  promptTokens: number | null;
  completionTokens: number | null;
  startedAt: Date;
  endedAt: Date | null;
}>;

export type SpanRecord = Readonly<{
  scopeId: string;
  id: string;
  step: number | null;
  kind: 'node' | 'tool';
  name: string;
  status: string;
  startedAt: Date;
  endedAt: Date | null;
}>;

/** Traces and spans that are next to each other in time. `since`: when the last of them began. */
export type OldTraces = Readonly<{ id: string; since: Date }>;

/** The references by which traces can be looked up. */
export const TRACE_REFERENCES = ['id', 'request_id', 'message_id', 'activity_id', 'workflow_run_id'] as const;
export type TraceReference = (typeof TRACE_REFERENCES)[number];

export class TraceQueries extends Queries {
  /** The traces of a user and of the user's agents that began since a time and match all references, the oldest first. */
  async find(
    userId: string,
    references: Readonly<Partial<Record<TraceReference, string>>>,
    since: Date,
    limit: number,
  ): Promise<readonly TraceRecord[]> {
    const { sql } = this;
    const named = Object.entries(references).map(([reference, id]) => sql`and ${this.isNamed(reference, id)}`);
    return sql<TraceRecord[]>`
      select trace_id as id, source, name, status, request_id as "requestId", message_id as "messageId",
        conversation_id as "conversationId", activity_id as "activityId", workflow_run_id as "workflowRunId",
        coalesce(user_id, conversation.owner_id) as "userId", agent_id as "agentId", model_id as "modelId",
        prompt_tokens::float8 as "promptTokens", completion_tokens::float8 as "completionTokens",
        started_at as "startedAt", ended_at as "endedAt"
      from traces.trace left join traces.conversation using (conversation_id)
      where ${userId} in (user_id, conversation.owner_id, agent_owner_id) and started_at >= ${since} ${named}
      order by started_at, trace_id limit ${limit}`;
  }

  /** A message is a turn, and the trace of a turn has the turn's id. The primary key therefore finds the one row. */
  private isNamed(reference: string, id: string) {
    const { sql } = this;
    if (reference === 'id') return sql`trace.trace_id = ${id}`;
    if (reference === 'message_id') return sql`trace.trace_id = ${id} and trace.message_id = ${id}`;
    return sql`trace.${sql(reference)} = ${id}`;
  }

  /** The spans of traces or workflow runs in the order of their start, at most `limitEach` of each. */
  async spansOf(scopeIds: readonly string[], limitEach: number): Promise<readonly SpanRecord[]> {
    if (scopeIds.length === 0) return [];
    return this.sql<SpanRecord[]>`
      select scope_id as "scopeId", span_id as id, step, kind, name, status, started_at as "startedAt", ended_at as "endedAt"
      from (select *, row_number() over (partition by scope_id order by started_at, span_id) as place from traces.span
            where scope_id = any (${scopeIds as string[]}::text[])) as spans
      where place <= ${limitEach} order by started_at, span_id`;
  }

  /** The number of spans of each trace or workflow run. */
  async spanCounts(scopeIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (scopeIds.length === 0) return new Map();
    const rows = await this.sql<{ id: string; n: number }[]>`
      select scope_id as id, count(*)::integer as n from traces.span
      where scope_id = any (${scopeIds as string[]}::text[]) group by scope_id`;
    return new Map(rows.map(({ id, n }) => [id, n]));
  }

  /** The traces and spans that began before a time, the oldest first, in batches of a number of rows. */
  async batchesBefore(before: Date, rowsEach: number, limit: number): Promise<readonly OldTraces[]> {
    const { sql } = this;
    const rows = rowsEach * limit;
    return sql<OldTraces[]>`
      select (place / ${rowsEach})::text as id, max(started_at) as since
      from (
        select started_at, row_number() over (order by started_at) - 1 as place
        from (
          (select started_at from traces.trace where started_at < ${before} order by started_at limit ${rows})
          union all
          (select started_at from traces.span where started_at < ${before} order by started_at limit ${rows})
        ) as old
        order by started_at limit ${rows}
      ) as old
      group by 1 order by since`;
  }
}
