import type { TransactionSql } from 'postgres';
import { runCodec } from '../../src/background/runs/run.codec.js';
import type { RunEvent } from '../../src/background/runs/run.events.js';
import { workflowRunCodec } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.codec.js';
import type { WorkflowRunEvent } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type {
  CalledTool,
  ConversationDeleted,
  ConversationPurged,
  ConversationStarted,
  ToolCallFinished,
  ToolCallStarted,
  TurnAsked,
  TurnOutcome,
  TurnSettings,
  TurnWithdrawn,
  Usage,
} from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { expiredTracesCodec } from '../../src/views/traces/expired-traces.codec.js';
import { EXPIRED_TRACES_CATEGORY, type TracesExpired } from '../../src/views/traces/expired-traces.events.js';
import {
  allWith,
  changeIn,
  type Columns,
  defineProjection,
  inSet,
  insertInto,
  removeFrom,
  type RowOfSet,
  type SetStatement,
  type Statement,
} from '../projection.js';
import { asText } from '../text.js';

type Traced =
  | ConversationStarted
  | ConversationDeleted
  | ConversationPurged
  | TurnAsked
  | TurnWithdrawn
  | TurnOutcome
  | ToolCallStarted
  | ToolCallFinished
  | RunEvent
  | WorkflowRunEvent
  | TracesExpired;

const { ConversationStarted, ConversationDeleted, TurnAsked, TurnWithdrawn, TurnAnswered, TurnFailed, TurnStopped } =
  conversationCodec;
const { ToolCallStarted, ToolCallFinished, ConversationPurged } = conversationCodec;

/** The steps of each answer and each headless run with their durations, without texts. */
export const traces = defineProjection<Traced>({
  name: 'traces',
  version: 3,
  categories: ['conversation', EXPIRED_TRACES_CATEGORY, 'run', 'workflowRun'],
  codec: {
    ...runCodec,
    ...workflowRunCodec,
    ...expiredTracesCodec,
    ConversationStarted,
    ConversationDeleted,
    ConversationPurged,
    TurnAsked,
    TurnWithdrawn,
    TurnAnswered,
    TurnFailed,
    TurnStopped,
    ToolCallStarted,
    ToolCallFinished,
  },
  ddl: new URL('./traces.sql', import.meta.url),

  on: {
    ConversationStarted: ({ data }) =>
      insertInto('conversation', { conversation_id: data.conversationId, owner_id: data.ownerId }),

    ConversationDeleted: gone,
    ConversationPurged: gone,

    TurnAsked: ({ data: { conversationId, turnId, requestId, settings, origin }, at }) =>
      insertInto('trace', {
        trace_id: turnId,
        source: origin?.kind ?? (settings.agentKeyId === null ? 'chat' : 'api'),
        ...agentIn(settings),
        status: 'running',
        request_id: requestId,
        message_id: turnId,
        conversation_id: conversationId,
        activity_id: origin?.kind === 'schedule' ? origin.runId : null,
        started_at: at,
      }),

    TurnWithdrawn: ({ data: { turnId } }) => [inSet(SPANS_OF, { scope_id: turnId }), removeFrom('trace', { trace_id: turnId })],

    TurnAnswered: ({ data, at }) => ended(data.turnId, at, 'ok', data.usage),
    TurnFailed: ({ data, at }) => ended(data.turnId, at, 'error', data.usage),
    TurnStopped: ({ data, at }) => ended(data.turnId, at, 'stopped', data.usage),

    ToolCallStarted: ({ data: { turnId, call }, at }, sql) => began(sql, turnId, call.callId, call, at),
    ToolCallFinished: ({ data: { turnId, callId, status }, at }) => done(turnId, callId, status, at),

    RunQueued: ({ data: { runId, ownerId, agentId, trigger, conversationId }, at, cause }) =>
      insertInto('trace', {
        trace_id: runId,
        source: trigger,
        name: 'run',
        status: 'running',
        request_id: cause.correlationId,
        conversation_id: conversationId ?? null,
        activity_id: runId,
        user_id: ownerId,
        agent_id: agentId,
        agent_owner_id: ownerId,
        started_at: at,
      }),

    RunStarted: ({ data: { runId, settings } }) => changeIn('trace', { trace_id: runId }, agentIn(settings)),
    RunToolCallStarted: ({ data: { runId, effect, call }, at }, sql) => began(sql, runId, `effect-${effect}`, call, at),
    RunToolCallFinished: ({ data: { runId, effect, status }, at }) => done(runId, `effect-${effect}`, status, at),
    RunFinished: ({ data: { runId, error, usage }, at }) => ended(runId, at, error ? 'error' : 'ok', usage),
    RunRefused: ({ data, at }) => ended(data.runId, at, 'error', null),
    RunFailed: ({ data, at }) => ended(data.runId, at, 'error', null),

    RunPurged: ({ data: { runId } }) => [inSet(SPANS_OF, { scope_id: runId }), removeFrom('trace', { trace_id: runId })],

    WorkflowRunStarted: ({ data: { workflowRunId, origin } }) =>
      changeIn('trace', { trace_id: origin.kind === 'turn' ? origin.turnId : origin.runId }, { workflow_run_id: workflowRunId }),

    NodeStarted: ({ data: { workflowRunId, step, attempt, nodeId, nodeType, title }, at }) =>
      insertInto('span', {
        scope_id: workflowRunId,
        span_id: stepId(step, attempt),
        step,
        kind: 'node',
        name: asText(`${nodeType}: ${title || nodeId}`),
        status: 'running',
        started_at: at,
      }),

    NodeWaiting: ({ data: { workflowRunId, step, attempt } }) =>
      changeIn('span', { scope_id: workflowRunId, span_id: stepId(step, attempt) }, { status: 'waiting' }),
    NodeCompleted: ({ data: { workflowRunId, step, attempt }, at }) =>
      done(workflowRunId, stepId(step, attempt), 'completed', at),
    NodeFailed: ({ data: { workflowRunId, step, attempt }, at }) => done(workflowRunId, stepId(step, attempt), 'failed', at),

    // The event that linked the run to its trace may already be deleted from the log.
    WorkflowRunPurged: ({ data: { workflowRunId } }, sql) => [
      sql`delete from span where scope_id = ${workflowRunId}`,
      sql`update trace set workflow_run_id = null where workflow_run_id = ${workflowRunId}`,
    ],

    // The limit has the planner read the index on the time, also while a rebuild has no statistics of the table yet.
    TracesExpired: ({ data: { before } }, sql) => [
      sql`
        delete from trace where ctid = any (array(
          select ctid from trace where started_at < ${before} order by started_at, trace_id limit ${EXPIRED_ROWS_MAX}))`,
      sql`
        delete from span where ctid = any (array(
          select ctid from span where started_at < ${before} order by started_at, scope_id, span_id limit ${EXPIRED_ROWS_MAX}))`,
    ],
  },
});

/** Maximum number of rows of a table that one event deletes. The next event deletes what is left, which no query returns. */
const EXPIRED_ROWS_MAX = 10_000;

/** The spans of workflow runs stay until they expire or those runs are purged. No query returns them without a trace. */
function gone({ data: { conversationId } }: Recorded<ConversationDeleted | ConversationPurged>): RowOfSet {
  return inSet(GONE, { conversation_id: conversationId });
}

const SPANS_OF = allWith('scope_id', 'span');

const GONE: SetStatement = {
  columns: { conversation_id: 'text' },
  tables: ['conversation', 'trace', 'span'],
  step: 1,
  removes: true,
  statement: ({ sql, rows, table }) => sql`
    with told as (
      select conversation_id from ${rows}
    ), traces as (
      delete from ${table('trace')} where conversation_id in (select conversation_id from told) and message_id = trace_id
      returning trace_id
    ), spans as (
      delete from ${table('span')} where scope_id in (select trace_id from traces)
    )
    delete from ${table('conversation')} where conversation_id in (select conversation_id from told)`,
};

const agentIn = ({ agentId, configurationOwnerId, modelId, agentType = 'classic' }: TurnSettings): Columns => ({
  name: agentType,
  agent_id: agentId,
  agent_owner_id: configurationOwnerId,
  model_id: modelId,
});

const stepId = (step: number, attempt: number): string => `step-${step}-${attempt}`;

const ended = (traceId: string, at: Date, status: string, usage: Usage | null | undefined) =>
  changeIn(
    'trace',
    { trace_id: traceId },
    {
      status,
      ended_at: at,
      prompt_tokens: usage?.promptTokens ?? null,
      completion_tokens: usage?.completionTokens ?? null,
    },
  );

/** A call without a trace is of an answer or a run that is purged, whose first events are already deleted from the log. */
const began = (
  sql: TransactionSql,
  scopeId: string,
  spanId: string,
  { toolName, actionName, step }: CalledTool,
  at: Date,
): Statement => sql`
  insert into span (scope_id, span_id, step, kind, name, status, started_at)
  select ${scopeId}, ${asText(spanId)}, ${step ?? null}::integer, 'tool', ${asText(`${toolName}.${actionName}`)}, 'running', ${at}::timestamptz
  where exists (select from trace where trace_id = ${scopeId})
  on conflict (scope_id, span_id) do nothing`;

const done = (scopeId: string, spanId: string, status: string, at: Date) =>
  changeIn('span', { scope_id: scopeId, span_id: asText(spanId) }, { status, ended_at: at });
