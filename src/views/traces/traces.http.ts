import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  type SpanRecord,
  TRACE_REFERENCES,
  TraceQueries,
  type TraceRecord,
  type TraceReference,
} from '../../../projections/traces/traces.queries.js';
import { FAMILIES } from '../../kernel/access.js';
import { Clock } from '../../kernel/clock.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { OptionalQuery } from '../../platform/http/documented.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { TracesOptions } from './traces-options.js';

const LIMIT = 20;
const LIMIT_MAX = 100;
const SPANS_MAX = 500;
const REFERENCE_CHARACTERS_MAX = 200;

type Asked = Readonly<Partial<Record<TraceReference | 'limit', unknown>>>;

/** The steps of a user's answers and runs with their durations, from the log. */
@ApiTags('Activity')
@Controller('api/traces')
export class TracesController {
  constructor(
    private readonly traces: TraceQueries,
    private readonly clock: Clock,
    private readonly freshness: Freshness,
    private readonly lastWrites: LastWrites,
    private readonly options: TracesOptions,
  ) {}

  @ApiOperation({
    summary: 'Traces by one of their references, the oldest first',
    description: `At least one of ${TRACE_REFERENCES.join(', ')} is required. \`limit\` is ${LIMIT} by default and at most ${LIMIT_MAX}.`,
  })
  @OptionalQuery(...TRACE_REFERENCES, 'limit')
  @Access({ for: 'user', action: 'read', of: 'traces', scopes: ['analytics:read'], closedToRestricted: FAMILIES })
  @Get()
  async find(@CurrentUser() { userId }: SignedInUser, @Query() query: Asked) {
    const references = referencesIn(query);
    await this.freshness.reached(['traces'], this.lastWrites.of(userId));
    const since = new Date(this.clock.now().getTime() - this.options.retentionMs);
    const found = await this.traces.find(userId, references, since, limitIn(query.limit));
    const holders = found.flatMap(holdersOf);
    const [spans, counts] = await Promise.all([this.traces.spansOf(holders, SPANS_MAX), this.traces.spanCounts(holders)]);
    return { success: true, traces: found.map((trace) => traceRecord(trace, spans, counts)) };
  }
}

const holdersOf = ({ id, workflowRunId }: TraceRecord): readonly string[] => [
  id,
  ...(workflowRunId === null ? [] : [workflowRunId]),
];

/** @throws Rejection invalid-request */
function referencesIn(query: Asked): Partial<Record<TraceReference, string>> {
  const given = TRACE_REFERENCES.map((name) => [name, query[name]] as const).filter(([, id]) => id !== undefined && id !== '');
  const wrong = given.find(([, id]) => typeof id !== 'string' || id.length > REFERENCE_CHARACTERS_MAX);
  if (wrong) throw new Rejection('invalid-request', `${wrong[0]} must be an id`);
  if (given.length === 0) throw new Rejection('invalid-request', `One of ${TRACE_REFERENCES.join(', ')} is required`);
  return Object.fromEntries(given);
}

function limitIn(value: unknown): number {
  const limit = value === undefined || value === '' ? LIMIT : Number(value);
  if (Number.isInteger(limit) && limit >= 1) return Math.min(limit, LIMIT_MAX);
  throw new Rejection('invalid-request', 'limit must be a whole number from 1 on');
}

function traceRecord(trace: TraceRecord, all: readonly SpanRecord[], counts: ReadonlyMap<string, number>) {
  const holders = holdersOf(trace);
  const count = holders.reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);
  const spans = all.filter(({ scopeId }) => holders.includes(scopeId)).slice(0, SPANS_MAX);
  return {
    id: trace.id,
    request_id: trace.requestId,
    message_id: trace.messageId,
    conversation_id: trace.conversationId,
    activity_id: trace.activityId,
    workflow_run_id: trace.workflowRunId,
    user_id: trace.userId,
    agent_id: trace.agentId,
    source: trace.source,
    name: trace.name,
    status: trace.status,
    started_at: trace.startedAt,
    duration_ms: durationOf(trace),
    span_count: count,
    dropped_spans: count - spans.length,
    summary: { model_id: trace.modelId, prompt_tokens: trace.promptTokens, completion_tokens: trace.completionTokens },
    spans: spans.map((span) => ({
      id: span.id,
      kind: span.kind,
      name: span.name,
      step: span.step,
      status: span.status,
      started_at: span.startedAt,
      duration_ms: durationOf(span),
    })),
    otel_trace_id: null,
  };
}

const durationOf = ({ startedAt, endedAt }: Pick<SpanRecord, 'startedAt' | 'endedAt'>): number | null =>
  endedAt && Math.max(0, endedAt.getTime() - startedAt.getTime());
