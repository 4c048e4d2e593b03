import type { TransactionSql } from 'postgres';
import { conversationCodec } from '../../src/conversation/conversation.codec.js';
import type { AnswerParts, ConversationEvent } from '../../src/conversation/conversation.events.js';
import { defineProjection, type Statement } from '../projection.js';
import { asText } from '../text.js';

/** What conversations say: their names and owners, and each turn with its answer as far as it is stated. */
export const conversations = defineProjection<ConversationEvent>({
  name: 'conversations',
  categories: ['conversation'],
  codec: conversationCodec,
  ddl: new URL('./conversations.sql', import.meta.url),

  on: {
    ConversationStarted: ({ data, at }, sql) => sql`
      insert into conversation (conversation_id, owner_id, agent_id, name, visibility, shared_usage, started_at)
      values (${data.conversationId}, ${data.ownerId}, ${data.agentId}, ${asText(data.name)}, ${data.visibility}, ${data.sharedUsage}, ${at})
      on conflict (conversation_id) do nothing`,

    ConversationRenamed: ({ data }, sql) => sql`
      update conversation set name = ${asText(data.name)} where conversation_id = ${data.conversationId}`,

    ConversationDeleted: ({ data }, sql) => [
      sql`delete from turn where conversation_id = ${data.conversationId}`,
      sql`delete from conversation where conversation_id = ${data.conversationId}`,
    ],

    TurnAsked: ({ data, at }, sql) => sql`
      insert into turn (turn_id, conversation_id, index, status, question, request_id, model_id, agent_key_id, asked_at, changed_at)
      values (${data.turnId}, ${data.conversationId}, ${data.index}, 'asked', ${asText(data.question)}, ${data.requestId},
        ${data.settings.modelId}, ${data.settings.agentKeyId}, ${at}, ${at})
      on conflict (turn_id) do nothing`,

    TurnsSuperseded: ({ data }, sql) => sql`
      update turn set superseded = true where turn_id = any(${[...data.turnIds]})`,

    TurnStarted: ({ data, at }, sql) => sql`
      update turn set status = 'running', changed_at = ${at} where turn_id = ${data.turnId}`,

    TurnAnswered: ({ data, at }, sql) => outcome(sql, data, at, 'answered'),
    TurnStopped: ({ data, at }, sql) => outcome(sql, data, at, 'stopped'),
    TurnFailed: ({ data, at }, sql) => outcome(sql, data, at, 'failed', data),

    TurnSealed: ({ data }, sql) => sql`update turn set sealed = true where turn_id = ${data.turnId}`,

    TurnRated: ({ data, at }, sql) => sql`
      update turn set feedback = ${data.feedback === null ? null : asText(data.feedback)}, feedback_at = ${data.feedback === null ? null : at} where turn_id = ${data.turnId}`,
  },
});

/** The json columns are json, not jsonb: what is read is the text that was written. */
function outcome(
  sql: TransactionSql,
  data: AnswerParts & { turnId: string },
  at: Date,
  status: string,
  failure?: { error: string; code: string | null },
): Statement {
  return sql`
    update turn set status = ${status}, response = ${asText(data.answer)}, thought = ${asText(data.thought)},
      sources = ${JSON.stringify(data.sources)}::text::json, tool_calls = ${JSON.stringify(data.toolCalls)}::text::json,
      structured = ${data.structured}, error = ${failure ? asText(failure.error) : null}, error_code = ${failure?.code ?? null},
      changed_at = ${at}
    where turn_id = ${data.turnId}`;
}
