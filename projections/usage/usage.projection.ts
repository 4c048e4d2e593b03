import type { TransactionSql } from 'postgres';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type { ConversationEvent, Usage } from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { monitorCodec } from '../../src/triggers/monitors/monitor/monitor.codec.js';
import type { MonitorEvent } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { runCodec } from '../../src/background/runs/run.codec.js';
import type { RunEvent, RunUse } from '../../src/background/runs/run.events.js';
import { defineProjection, insertInto, type Statement } from '../projection.js';

const HOUR_MS = 3_600_000;
const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);

/** What owners, agents and the bearers of their keys have used: requests and tokens, when, and by hour. It outlives the conversations. */
export const usage = defineProjection<ConversationEvent | RunEvent | MonitorEvent>({
  name: 'usage',
  categories: ['conversation', 'run', 'monitor'],
  codec: { ...conversationCodec, ...runCodec, ...monitorCodec },
  ddl: new URL('./usage.sql', import.meta.url),

  on: {
    ConversationStarted: ({ data }) =>
      insertInto('conversation', { conversation_id: data.conversationId, owner_id: data.ownerId }),

    TurnAsked: (event, sql) => {
      const { turnId, conversationId, settings } = event.data;
      return noted(
        event,
        sql,
        sql`used as (
          insert into turn (turn_id, owner_id, agent_id, agent_key_id)
          select ${turnId}, owner_id, ${settings.agentId ?? ''}, ${settings.agentKeyId ?? ''}
          from conversation where conversation_id = ${conversationId}
          returning owner_id, agent_id, agent_key_id, 1 as requests, 0 as prompt_tokens, 0 as completion_tokens
        )`,
      );
    },

    TurnPaused: turnUsed,
    TurnAnswered: turnUsed,
    TurnFailed: turnUsed,
    TurnStopped: turnUsed,

    RunQueued: ({ data }) => insertInto('run', { run_id: data.runId, owner_id: data.ownerId, agent_id: data.agentId ?? '' }),

    // One request, however many attempts there are.
    RunStarted: (event, sql) =>
      noted(
        event,
        sql,
        sql`used as (
          update run set started = true where run_id = ${event.data.runId} and not started
          returning owner_id, agent_id, '' as agent_key_id, 1 as requests, 0 as prompt_tokens, 0 as completion_tokens
        )`,
      ),

    RunAttemptAbandoned: attemptUsed,
    RunFinished: attemptUsed,

    MonitorCreated: ({ data }) =>
      insertInto('monitor', { monitor_id: data.monitorId, owner_id: data.ownerId, agent_id: data.agentId ?? '' }),

    // What judging a condition took.
    MonitorChecked: (event, sql) => allUsed(event, sql`monitor where monitor_id = ${event.data.monitorId}`, sql),

    // What the run itself said of this may be gone from the log; what is known already is not counted again.
    RunPurged: ({ data: { runId, ownerId, agentId, used }, stream }, sql) => [
      sql`insert into run (run_id, owner_id, agent_id, started)
        values (${runId}, ${ownerId}, ${agentId ?? ''}, ${used.some(({ requests }) => requests > 0)}) on conflict do nothing`,
      ...used.map((use) => carriedOver(stream, use, { ownerId, agentId }, sql)),
    ],
  },
});

/** A run of a turn tells what the whole turn has used by now: what is new of it belongs to this moment. */
function turnUsed(event: UsageTold<ConversationEvent>, sql: TransactionSql): Statement | [] {
  const { turnId, usage } = event.data;
  if (!usage) return [];
  const { promptTokens, completionTokens } = usage;
  return noted(
    event,
    sql,
    sql`before as (
      select prompt_tokens, completion_tokens from turn where turn_id = ${turnId}
    ), used as (
      update turn set
        prompt_tokens = greatest(turn.prompt_tokens, ${promptTokens}),
        completion_tokens = greatest(turn.completion_tokens, ${completionTokens})
      from before where turn_id = ${turnId}
      returning owner_id, agent_id, agent_key_id, 0 as requests,
        turn.prompt_tokens - before.prompt_tokens as prompt_tokens,
        turn.completion_tokens - before.completion_tokens as completion_tokens
    )`,
  );
}

/** Each attempt of a run tells what it has used itself. */
function attemptUsed(event: UsageTold<RunEvent>, sql: TransactionSql): Statement | [] {
  return allUsed(event, sql`run where run_id = ${event.data.runId}`, sql);
}

/** What is told was used then, by the agent and for the owner in that row. */
function allUsed(event: UsageTold<RunEvent | MonitorEvent>, whose: Fragment, sql: TransactionSql): Statement | [] {
  const { usage } = event.data;
  if (!usage) return [];
  return noted(
    event,
    sql,
    sql`used as (
      select owner_id, agent_id, '' as agent_key_id, 0 as requests,
        ${usage.promptTokens}::bigint as prompt_tokens, ${usage.completionTokens}::bigint as completion_tokens
      from ${whose}
    )`,
  );
}

function carriedOver(stream: string, use: RunUse, { ownerId, agentId }: Owned, sql: TransactionSql): Statement {
  const { revision, at, requests, promptTokens, completionTokens } = use;
  return sql`
    with entered as (
      insert into entry (stream, revision, at, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
      values (${stream}, ${revision}, ${at}, ${ownerId}, ${agentId ?? ''}, '', ${requests}, ${promptTokens}, ${completionTokens})
      on conflict do nothing
      returning owner_id, agent_id, requests, prompt_tokens, completion_tokens
    )
    insert into hour (hour, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
    select ${hourOf(new Date(at))}, owner_id, agent_id, '', requests, prompt_tokens, completion_tokens from entered
    ${addedUp(sql)}`;
}

type Owned = Readonly<{ ownerId: string; agentId: string | null }>;
type UsageTold<E extends ConversationEvent | RunEvent | MonitorEvent> = Recorded<Extract<E, { data: { usage?: Usage | null } }>>;
type Fragment = ReturnType<TransactionSql>;

/** Notes the rows of `used`, as an entry and in its hour. */
function noted({ stream, revision, at }: Recorded, sql: TransactionSql, used: Fragment): Statement {
  return sql`
    with ${used}, anything as (
      select * from used where requests + prompt_tokens + completion_tokens > 0
    ), entered as (
      insert into entry (stream, revision, at, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
      select ${stream}, ${revision}, ${at}, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens
      from anything
    )
    insert into hour (hour, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
    select ${hourOf(at)}, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens from anything
    ${addedUp(sql)}`;
}

const addedUp = (sql: TransactionSql): Fragment => sql`
  on conflict (owner_id, hour, agent_id, agent_key_id) do update set
    requests = hour.requests + excluded.requests,
    prompt_tokens = hour.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = hour.completion_tokens + excluded.completion_tokens`;
