import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type { ConversationEvent, Usage } from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { monitorCodec } from '../../src/triggers/monitors/monitor/monitor.codec.js';
import type { MonitorEvent } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { runCodec } from '../../src/background/runs/run.codec.js';
import type { RunEvent } from '../../src/background/runs/run.events.js';
import { type Change, type Columns, defineProjection, inSet, insertInto, removeFrom, type SetStatement } from '../projection.js';
import { carriedOver, knownRun, knownTurn, usesOf } from './carried-over.js';
import { MOMENT, noted, TOKENS } from './entries.js';

/**
 * The requests and tokens that owners, agents and the holders of agent keys have used, each use with its time and summed by hour.
 * The deletion of a conversation does not change them.
 */
export const usage = defineProjection<ConversationEvent | RunEvent | MonitorEvent>({
  name: 'usage',
  categories: ['conversation', 'run', 'monitor'],
  codec: { ...conversationCodec, ...runCodec, ...monitorCodec },
  ddl: new URL('./usage.sql', import.meta.url),

  on: {
    ConversationStarted: ({ data }) =>
      insertInto('conversation', { conversation_id: data.conversationId, owner_id: data.ownerId }),

    TurnAsked: ({ data: { turnId, conversationId, settings }, ...event }) =>
      inSet(ASKED_TURNS, {
        ...momentOf(event),
        ...{ turn_id: turnId, conversation_id: conversationId },
        ...{ agent_id: settings.agentId ?? '', agent_key_id: settings.agentKeyId ?? '' },
      }),

    TurnPaused: turnUsed,
    TurnAnswered: turnUsed,
    TurnFailed: turnUsed,
    TurnStopped: turnUsed,

    // The turns' own events may already be deleted from the log. Uses that are stored already are not counted again.
    TurnsPurged: ({ data: { ownerId, turns }, stream }) =>
      turns.flatMap(({ turnId, question, told }) => {
        if (!question) return [];
        const owned = { ownerId, agentId: question.agentId, agentKeyId: question.agentKeyId };
        return [knownTurn(turnId, owned, told), ...usesOf(question, told).map((use) => carriedOver(stream, use, owned))];
      }),
    ConversationPurged: ({ data }) => removeFrom('conversation', { conversation_id: data.conversationId }),

    RunQueued: ({ data }) => insertInto('run', { run_id: data.runId, owner_id: data.ownerId, agent_id: data.agentId ?? '' }),

    // A run counts as one request, also if it has several attempts.
    RunStarted: ({ data, ...event }) => inSet(STARTED_RUNS, { ...momentOf(event), run_id: data.runId }),

    RunAttemptAbandoned: attemptUsed,
    RunFinished: attemptUsed,

    MonitorCreated: ({ data }) =>
      insertInto('monitor', { monitor_id: data.monitorId, owner_id: data.ownerId, agent_id: data.agentId ?? '' }),

    // The tokens that the evaluation of a condition used.
    MonitorChecked: (event) => allUsed(USED_BY_MONITORS, event, { monitor_id: event.data.monitorId }),

    // The run's own events may already be deleted from the log. Uses that are stored already are not counted again.
    RunPurged: ({ data: { runId, ownerId, agentId, used }, stream }) => [
      knownRun(runId, ownerId, agentId, used),
      ...used.map((use) => carriedOver(stream, use, { ownerId, agentId, agentKeyId: null })),
    ],
  },
});

const momentOf = ({ stream, revision, at }: Pick<Recorded, 'stream' | 'revision' | 'at'>) => ({ stream, revision, at });

const ASKED_TURNS: SetStatement = {
  columns: { ...MOMENT, turn_id: 'text', conversation_id: 'text', agent_id: 'text', agent_key_id: 'text' },
  tables: ['conversation', 'turn', 'entry', 'hour'],
  step: 1,
  key: 'turn_id',
  statement: (means) => {
    const { sql, rows, table } = means;
    return noted(
      means,
      sql`told as (
        select * from ${rows}
      ), added as (
        insert into ${table('turn')} (turn_id, owner_id, agent_id, agent_key_id)
        select turn_id, owner_id, agent_id, agent_key_id from told join ${table('conversation')} using (conversation_id)
        returning turn_id, owner_id
      ), used as (
        select stream, revision, at, owner_id, agent_id, agent_key_id, 1 as requests, 0 as prompt_tokens, 0 as completion_tokens
        from told join added using (turn_id)
      )`,
    );
  },
};

const USED_BY_TURNS: SetStatement = {
  columns: { ...MOMENT, turn_id: 'text', ...TOKENS },
  tables: ['turn', 'entry', 'hour'],
  step: 2,
  key: 'turn_id',
  statement: (means) => {
    const { sql, rows, table } = means;
    return noted(
      means,
      sql`before as (
        select told.*, turn.prompt_tokens as prompt_before, turn.completion_tokens as completion_before
        from ${rows} join ${table('turn')} as turn using (turn_id)
      ), used as (
        update ${table('turn')} as turn set
          prompt_tokens = greatest(turn.prompt_tokens, before.prompt_tokens),
          completion_tokens = greatest(turn.completion_tokens, before.completion_tokens)
        from before where turn.turn_id = before.turn_id
        returning before.stream, before.revision, before.at, owner_id, agent_id, agent_key_id, 0 as requests,
          turn.prompt_tokens - prompt_before as prompt_tokens, turn.completion_tokens - completion_before as completion_tokens
      )`,
    );
  },
};

const STARTED_RUNS: SetStatement = {
  columns: { ...MOMENT, run_id: 'text' },
  tables: ['run', 'entry', 'hour'],
  step: 1,
  key: 'run_id',
  statement: (means) => {
    const { sql, rows, table } = means;
    return noted(
      means,
      sql`used as (
        update ${table('run')} as run set started = true from ${rows} where run.run_id = told.run_id and not started
        returning stream, revision, at, owner_id, agent_id, '' as agent_key_id, 1 as requests, 0 as prompt_tokens, 0 as completion_tokens
      )`,
    );
  },
};

const USED_BY_RUNS = usedBy('run', 'run_id');
const USED_BY_MONITORS = usedBy('monitor', 'monitor_id');

/** The set statement for reported usage that counts in full at its time. The row of `whose` gives the owner and the agent. */
function usedBy(whose: string, key: string): SetStatement {
  return {
    columns: { ...MOMENT, [key]: 'text', ...TOKENS },
    tables: [whose, 'entry', 'hour'],
    step: 2,
    statement: (means) => {
      const { sql, rows, table } = means;
      return noted(
        means,
        sql`used as (
          select stream, revision, at, owner_id, agent_id, '' as agent_key_id, 0 as requests, prompt_tokens, completion_tokens
          from ${rows} join ${table(whose)} using (${sql(key)})
        )`,
      );
    },
  };
}

/** Each run of a turn reports the usage of the whole turn so far. The increase counts at the time of the report. */
function turnUsed(event: UsageEvent<ConversationEvent>): Change | [] {
  return allUsed(USED_BY_TURNS, event, { turn_id: event.data.turnId });
}

/** Each attempt of a run reports its own usage. */
function attemptUsed(event: UsageEvent<RunEvent>): Change | [] {
  return allUsed(USED_BY_RUNS, event, { run_id: event.data.runId });
}

function allUsed(set: SetStatement, event: UsageEvent<ConversationEvent | RunEvent | MonitorEvent>, by: Columns): Change | [] {
  const { usage } = event.data;
  if (!usage) return [];
  const { promptTokens, completionTokens } = usage;
  return inSet(set, { ...momentOf(event), ...by, prompt_tokens: promptTokens, completion_tokens: completionTokens });
}

type UsageEvent<E extends ConversationEvent | RunEvent | MonitorEvent> = Recorded<Extract<E, { data: { usage?: Usage | null } }>>;
