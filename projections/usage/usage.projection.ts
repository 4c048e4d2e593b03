import type { TransactionSql } from 'postgres';
import { conversationCodec } from '../../src/conversation/conversation.codec.js';
import type { ConversationEvent, Usage } from '../../src/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/events.js';
import { defineProjection, insertInto, type Statement } from '../projection.js';

const HOUR_MS = 3_600_000;
const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);

/** What owners, agents and the bearers of their keys have used: requests and tokens, when, and by hour. It outlives the conversations. */
export const usage = defineProjection<ConversationEvent>({
  name: 'usage',
  categories: ['conversation'],
  codec: conversationCodec,
  ddl: new URL('./usage.sql', import.meta.url),

  on: {
    ConversationStarted: ({ data }) =>
      insertInto('conversation', { conversation_id: data.conversationId, owner_id: data.ownerId }),

    TurnAsked: ({ data, at, revision }, sql) => sql`
      with asked as (
        insert into turn (turn_id, owner_id, agent_id, agent_key_id)
        select ${data.turnId}, owner_id, ${data.settings.agentId ?? ''}, ${data.settings.agentKeyId ?? ''}
        from conversation where conversation_id = ${data.conversationId}
        returning *
      ), noted as (
        insert into entry (turn_id, revision, at, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
        select turn_id, ${revision}, ${at}, owner_id, agent_id, agent_key_id, 1, 0, 0 from asked
      )
      insert into hour (hour, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
      select ${hourOf(at)}, owner_id, agent_id, agent_key_id, 1, 0, 0 from asked
      on conflict (owner_id, hour, agent_id, agent_key_id) do update set requests = hour.requests + 1`,

    TurnPaused: runEnded,
    TurnAnswered: runEnded,
    TurnFailed: runEnded,
    TurnStopped: runEnded,
  },
});

type RunEnded = Recorded<Extract<ConversationEvent, { data: { usage?: Usage | null } }>>;

/** A run tells what the whole turn has used by now: what is new of it belongs to this moment. */
function runEnded({ data, at, revision }: RunEnded, sql: TransactionSql): Statement | [] {
  if (!data.usage) return [];
  const { promptTokens, completionTokens } = data.usage;
  return sql`
    with before as (
      select turn_id, prompt_tokens, completion_tokens from turn where turn_id = ${data.turnId}
    ), used as (
      update turn set
        prompt_tokens = greatest(turn.prompt_tokens, ${promptTokens}),
        completion_tokens = greatest(turn.completion_tokens, ${completionTokens})
      from before where turn.turn_id = before.turn_id
      returning turn.turn_id, owner_id, agent_id, agent_key_id,
        turn.prompt_tokens - before.prompt_tokens as prompt_tokens,
        turn.completion_tokens - before.completion_tokens as completion_tokens
    ), noted as (
      insert into entry (turn_id, revision, at, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
      select turn_id, ${revision}, ${at}, owner_id, agent_id, agent_key_id, 0, prompt_tokens, completion_tokens
      from used where prompt_tokens + completion_tokens > 0
    )
    insert into hour (hour, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
    select ${hourOf(at)}, owner_id, agent_id, agent_key_id, 0, prompt_tokens, completion_tokens
    from used where prompt_tokens + completion_tokens > 0
    on conflict (owner_id, hour, agent_id, agent_key_id) do update set
      prompt_tokens = hour.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = hour.completion_tokens + excluded.completion_tokens`;
}
