import { runCodec } from '../../src/background/runs/run.codec.js';
import type { RunEvent } from '../../src/background/runs/run.events.js';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type {
  ConversationEvent,
  PurgedQuestion,
  PurgedTurn,
  TurnOutcome,
  Usage,
} from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { monitorCodec } from '../../src/triggers/monitors/monitor/monitor.codec.js';
import type { MonitorEvent } from '../../src/triggers/monitors/monitor/monitor.events.js';
import {
  allWith,
  type Change,
  defineProjection,
  inSet,
  insertInto,
  removeFrom,
  type SetMeans,
  type SetStatement,
  type Statement,
} from '../projection.js';
import { asText } from '../text.js';

/**
 * Statistics for the owners of agents: the tokens that models used and the tools that answers called. It stores no texts of
 * users.
 */
export const analytics = defineProjection<ConversationEvent | RunEvent | MonitorEvent>({
  name: 'analytics',
  categories: ['conversation', 'run', 'monitor'],
  codec: { ...conversationCodec, ...runCodec, ...monitorCodec },
  ddl: new URL('./analytics.sql', import.meta.url),

  on: {
    ConversationStarted: ({ data }) =>
      insertInto('conversation', { conversation_id: data.conversationId, owner_id: data.ownerId }),

    // The tokens stay counted, because they were spent.
    ConversationDeleted: ({ data: { conversationId } }) => inSet(TOOLS_FORGOTTEN, { conversation_id: conversationId }),

    // The turns' own events may already be deleted from the log when a rebuild reads this one.
    TurnsPurged: ({ data: { ownerId, turns } }) => turns.flatMap((turn) => stillSpent(ownerId, turn)),
    ConversationPurged: ({ data: { conversationId } }) => [
      inSet(TOOLS_FORGOTTEN, { conversation_id: conversationId }),
      removeFrom('conversation', { conversation_id: conversationId }),
    ],

    TurnAsked: ({ data: { conversationId, turnId, settings, origin }, at }) =>
      inSet(ASKED_TURNS, {
        ...{ spender_id: turnId, conversation_id: conversationId, agent_id: settings.agentId, model_id: settings.modelId, at },
        source: sourceOf(origin?.kind ?? null, settings.agentKeyId),
      }),

    TurnPaused: ({ data, at }) => spentByTurn(data.turnId, data.usage, at),
    TurnAnswered: outcome,
    TurnFailed: outcome,
    TurnStopped: outcome,

    RunQueued: ({ data: { runId, ownerId, agentId, trigger } }) =>
      insertInto('worker', { worker_id: runId, owner_id: ownerId, agent_id: agentId, source: trigger }),

    RunAttemptAbandoned: (event) => spentByWorker(event, event.data.runId, event.data),
    RunFinished: (event) => [
      ...spentByWorker(event, event.data.runId, event.data),
      ...toolsOf(TOOLS_OF_RUNS, event.data.runId, event.data.toolCalls, event.at),
    ],

    // The run's own events may already be deleted when a rebuild reads this one, and with them the names of its models.
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

    MonitorChecked: (event) => spentByWorker(event, event.data.monitorId, { modelId: null, usage: event.data.usage }),
  },
});

const sourceOf = (origin: PurgedQuestion['origin'], agentKeyId: string | null): string =>
  origin ?? (agentKeyId === null ? 'chat' : 'api');

/** The tokens of a purged turn, as its own events recorded them. `told` is in order, and its last entry is the total. */
function stillSpent(ownerId: string, { turnId, question, told }: PurgedTurn): readonly Change[] {
  if (!question) return [];
  const { agentId, agentKeyId, modelId, origin } = question;
  const { at, promptTokens, completionTokens } = told.at(-1) ?? { at: question.at, promptTokens: 0, completionTokens: 0 };
  return [
    inSet(STILL_SPENT, {
      ...{ spender_id: turnId, part: 0, owner_id: ownerId, agent_id: agentId, model_id: modelId },
      ...{ source: sourceOf(origin, agentKeyId), at, prompt_tokens: promptTokens, completion_tokens: completionTokens },
    }),
  ];
}

const SPENT = { spender_id: 'text', at: 'timestamptz', prompt_tokens: 'bigint', completion_tokens: 'bigint' };

const ASKED_TURNS: SetStatement = {
  columns: { spender_id: 'text', conversation_id: 'text', agent_id: 'text', model_id: 'text', at: 'timestamptz', source: 'text' },
  tables: ['conversation', 'spent'],
  step: 1,
  key: 'spender_id',
  statement: ({ sql, rows, table }) => sql`
    insert into ${table('spent')} (spender_id, part, owner_id, agent_id, model_id, source, at, prompt_tokens, completion_tokens)
    select spender_id, 0, owner_id, agent_id, model_id, source, at, 0, 0
    from ${rows} join ${table('conversation')} using (conversation_id)`,
};

const SPENT_BY_TURNS: SetStatement = {
  // `part` is in the rows: with a constant, Postgres would scan all turns for it until the table is analyzed.
  columns: { ...SPENT, part: 'integer', model_id: 'text' },
  tables: ['spent'],
  step: 2,
  key: 'spender_id',
  statement: ({ sql, rows, table }) => sql`
    update ${table('spent')} as spent set model_id = coalesce(told.model_id, spent.model_id), at = told.at,
      prompt_tokens = told.prompt_tokens, completion_tokens = told.completion_tokens
    from ${rows} where spent.spender_id = told.spender_id and spent.part = told.part`,
};

const STILL_SPENT: SetStatement = {
  columns: { ...SPENT, part: 'integer', owner_id: 'text', agent_id: 'text', model_id: 'text', source: 'text' },
  tables: ['spent'],
  step: 3,
  key: 'spender_id',
  statement: ({ sql, rows, table }) => sql`
    insert into ${table('spent')} (spender_id, part, owner_id, agent_id, model_id, source, at, prompt_tokens, completion_tokens)
    select spender_id, part, owner_id, agent_id, model_id, source, at, prompt_tokens, completion_tokens from ${rows}
    on conflict (spender_id, part) do update set model_id = excluded.model_id, at = excluded.at,
      prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens`,
};

const SPENT_BY_WORKERS: SetStatement = {
  columns: { ...SPENT, part: 'integer', model_id: 'text' },
  tables: ['worker', 'spent'],
  step: 1,
  statement: ({ sql, rows, table }) => sql`
    insert into ${table('spent')} (spender_id, part, owner_id, agent_id, model_id, source, at, prompt_tokens, completion_tokens)
    select spender_id, part, owner_id, agent_id, model_id, source, at, prompt_tokens, completion_tokens
    from ${rows} join ${table('worker')} on worker_id = spender_id`,
};

const TOOLS = { spender_id: 'text', at: 'timestamptz', tools: 'json' };

const TOOLS_OF_TURNS: SetStatement = {
  columns: { ...TOOLS, conversation_id: 'text' },
  tables: ['spent', 'tool_use'],
  step: 2,
  statement: (means) =>
    usesOf(means, means.sql`conversation_id, owner_id, agent_id`, means.sql`${means.table('spent')} as spent using (spender_id)`),
};

const TOOLS_OF_RUNS: SetStatement = {
  columns: TOOLS,
  tables: ['worker', 'tool_use'],
  step: 2,
  statement: (means) =>
    usesOf(means, means.sql`null, owner_id, agent_id`, means.sql`${means.table('worker')} on worker_id = spender_id`),
};

const TOOLS_FORGOTTEN = allWith('conversation_id', 'tool_use');

const usesOf = ({ sql, rows, table }: SetMeans, whose: Fragment, spender: Fragment): Statement => sql`
  insert into ${table('tool_use')} (spender_id, tool_name, at, calls, failures, conversation_id, owner_id, agent_id)
  select told.spender_id, tool.name, told.at, tool.calls, tool.failures, ${whose}
  from ${rows} join ${spender}
    cross join json_to_recordset(told.tools) as tool (name text, calls integer, failures integer)`;

type Fragment = ReturnType<SetMeans['table']>;

/** Each run of a turn reports the usage of the whole turn so far, which replaces the earlier value. */
const spentByTurn = (turnId: string, usage: Usage | null | undefined, at: Date, modelId?: string | null): readonly Change[] =>
  usage ? [inSet(SPENT_BY_TURNS, { spender_id: turnId, part: 0, model_id: modelId ?? null, at, ...tokensOf(usage) })] : [];

function outcome({ data, at }: Recorded<TurnOutcome>): readonly Change[] {
  const { conversationId, turnId, usage, toolCalls } = data;
  const modelId = 'modelId' in data ? data.modelId : undefined;
  return [
    ...spentByTurn(turnId, usage, at, modelId),
    ...toolsOf(TOOLS_OF_TURNS, turnId, toolCalls, at, { conversation_id: conversationId }),
  ];
}

function spentByWorker(
  { revision, at }: Pick<Recorded, 'revision' | 'at'>,
  workerId: string,
  { modelId, usage }: Readonly<{ modelId: string | null; usage: Usage | null }>,
): readonly Change[] {
  if (!usage || usage.promptTokens + usage.completionTokens === 0) return [];
  return [inSet(SPENT_BY_WORKERS, { spender_id: workerId, part: revision, model_id: modelId, at, ...tokensOf(usage) })];
}

const tokensOf = ({ promptTokens, completionTokens }: Usage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
});

/** The number of calls and failures of each tool. Calls that were not run do not count. */
function toolsOf(
  set: SetStatement,
  spenderId: string,
  toolCalls: readonly Readonly<Record<string, unknown>>[],
  at: Date,
  more: Readonly<{ conversation_id?: string }> = {},
): readonly Change[] {
  const ran = toolCalls.filter(({ status }) => status === 'completed' || status === 'error');
  const tools = [...new Set(ran.map(nameOf))].map((name) => {
    const ofTool = ran.filter((call) => nameOf(call) === name);
    return { name, calls: ofTool.length, failures: ofTool.filter(({ status }) => status === 'error').length };
  });
  return tools.length === 0 ? [] : [inSet(set, { spender_id: spenderId, at, tools, ...more })];
}

const nameOf = ({ tool_name: name }: Readonly<Record<string, unknown>>): string => (typeof name === 'string' ? asText(name) : '');
