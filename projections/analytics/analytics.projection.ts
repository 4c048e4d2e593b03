import type { PendingQuery, Row, TransactionSql } from 'postgres';
import { runCodec } from '../../src/background/runs/run.codec.js';
import type { RunEvent } from '../../src/background/runs/run.events.js';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type { ConversationEvent, TurnOutcome, Usage } from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { monitorCodec } from '../../src/triggers/monitors/monitor/monitor.codec.js';
import type { MonitorEvent } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { type Change, changeIn, defineProjection, insertInto, removeFrom, type Statement } from '../projection.js';
import { asText } from '../text.js';

/** Numbers for the owners of agents: the tokens that models have used, and the tools that answers have called. It holds no text of anybody. */
export const analytics = defineProjection<ConversationEvent | RunEvent | MonitorEvent>({
  name: 'analytics',
  categories: ['conversation', 'run', 'monitor'],
  codec: { ...conversationCodec, ...runCodec, ...monitorCodec },
  ddl: new URL('./analytics.sql', import.meta.url),

  on: {
    ConversationStarted: ({ data }) =>
      insertInto('conversation', { conversation_id: data.conversationId, owner_id: data.ownerId }),

    // Tokens are spent all the same.
    ConversationDeleted: ({ data: { conversationId } }, sql) =>
      sql`delete from tool_use where conversation_id = ${conversationId}`,

    TurnAsked: ({ data: { conversationId, turnId, settings, origin }, at }, sql) => sql`
      insert into spent (spender_id, part, owner_id, agent_id, model_id, source, at, prompt_tokens, completion_tokens)
      select ${turnId}, 0, owner_id, ${settings.agentId}, ${settings.modelId},
        ${origin?.kind ?? (settings.agentKeyId === null ? 'chat' : 'api')}, ${at}, 0, 0
      from conversation where conversation_id = ${conversationId}`,

    TurnPaused: ({ data, at }) => spentByTurn(data.turnId, data.usage, at),
    TurnAnswered: outcome,
    TurnFailed: outcome,
    TurnStopped: outcome,

    RunQueued: ({ data: { runId, ownerId, agentId, trigger } }) =>
      insertInto('worker', { worker_id: runId, owner_id: ownerId, agent_id: agentId, source: trigger }),

    RunAttemptAbandoned: (event, sql) => {
      const { runId, modelId, usage } = event.data;
      return spentByWorker(event, runId, { modelId, usage }, sql);
    },

    RunFinished: (event, sql) => {
      const { runId, modelId, usage, toolCalls } = event.data;
      const worker = sql`null, owner_id, agent_id from worker where worker_id = ${runId}`;
      return [spentByWorker(event, runId, { modelId, usage }, sql), usesOf(runId, toolCalls, event.at, worker, sql)].flat();
    },

    // What the run said itself may be gone from the log: its models are, too.
    RunPurged: ({ data: { runId, ownerId, agentId, trigger, used } }, sql) => [
      sql`delete from spent where spender_id = ${runId}`,
      sql`delete from tool_use where spender_id = ${runId}`,
      removeFrom('worker', { worker_id: runId }),
      ...used
        .filter(({ promptTokens, completionTokens }) => promptTokens + completionTokens > 0)
        .map(({ revision, at, promptTokens, completionTokens }) =>
          insertInto('spent', {
            ...{ spender_id: runId, part: revision, owner_id: ownerId, agent_id: agentId, model_id: null, source: trigger },
            ...{ at: new Date(at), prompt_tokens: promptTokens, completion_tokens: completionTokens },
          }),
        ),
    ],

    MonitorCreated: ({ data: { monitorId, ownerId, agentId } }) =>
      insertInto('worker', { worker_id: monitorId, owner_id: ownerId, agent_id: agentId ?? null, source: 'monitor' }),

    MonitorChecked: (event, sql) => spentByWorker(event, event.data.monitorId, { modelId: null, usage: event.data.usage }, sql),
  },
});

/** Runs of a turn tell what the whole turn has used by then. */
const spentByTurn = (turnId: string, usage: Usage | null | undefined, at: Date, modelId?: string): Change | [] =>
  usage
    ? changeIn(
        'spent',
        { spender_id: turnId, part: 0 },
        {
          ...(modelId !== undefined && { model_id: modelId }),
          ...{ at, prompt_tokens: usage.promptTokens, completion_tokens: usage.completionTokens },
        },
      )
    : [];

function outcome({ data, at }: Recorded<TurnOutcome>, sql: TransactionSql): readonly Change[] {
  const { conversationId, turnId, usage, toolCalls } = data;
  const modelId = 'modelId' in data ? data.modelId : undefined;
  const turn = sql`${conversationId}, owner_id, agent_id from spent where spender_id = ${turnId}`;
  return [spentByTurn(turnId, usage, at, modelId), usesOf(turnId, toolCalls, at, turn, sql)].flat();
}

function spentByWorker(
  { revision, at }: Recorded,
  workerId: string,
  { modelId, usage }: Readonly<{ modelId: string | null; usage: Usage | null }>,
  sql: TransactionSql,
): Change | [] {
  if (!usage || usage.promptTokens + usage.completionTokens === 0) return [];
  return sql`
    insert into spent (spender_id, part, owner_id, agent_id, model_id, source, at, prompt_tokens, completion_tokens)
    select ${workerId}, ${revision}, owner_id, agent_id, ${modelId}, source, ${at}, ${usage.promptTokens}, ${usage.completionTokens}
    from worker where worker_id = ${workerId}`;
}

/** How often each tool was called, successfully or not; calls that were not run do not count. */
function usesOf(
  spenderId: string,
  toolCalls: readonly Readonly<Record<string, unknown>>[],
  at: Date,
  whose: PendingQuery<Row[]>,
  sql: TransactionSql,
): readonly Statement[] {
  const ran = toolCalls.filter(({ status }) => status === 'completed' || status === 'error');
  const names = [...new Set(ran.map(nameOf))];
  return names.map((name) => {
    const ofTool = ran.filter((call) => nameOf(call) === name);
    const failures = ofTool.filter(({ status }) => status === 'error').length;
    return sql`
      insert into tool_use (spender_id, tool_name, at, calls, failures, conversation_id, owner_id, agent_id)
      select ${spenderId}, ${name}, ${at}, ${ofTool.length}, ${failures}, ${whose}`;
  });
}

const nameOf = ({ tool_name: name }: Readonly<Record<string, unknown>>): string => (typeof name === 'string' ? asText(name) : '');
