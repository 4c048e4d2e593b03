import { guardrailCodec } from '../../src/resources/guardrails/guardrail-record.codec.js';
import type { GuardrailRecordEvent } from '../../src/resources/guardrails/guardrail-record.events.js';
import { defineProjection, type Statement } from '../projection.js';
import { asText } from '../text.js';

/** The findings of guardrails in the texts of turns, runs and deliveries. */
export const guardrailEvents = defineProjection<GuardrailRecordEvent>({
  name: 'guardrail-events',
  categories: ['guardrail'],
  codec: guardrailCodec,
  ddl: new URL('./guardrail-events.sql', import.meta.url),

  on: {
    GuardrailDecisionsRecorded: ({ data }, sql) => [
      sql`
        insert into record (record_id, since) values (${data.recordId}, ${data.recordedAt})
        on conflict (record_id) do update set since = excluded.since`,
      ...data.decisions.map(
        ({ stage, check, detector, action, outcome, category, score, matchCount }): Statement => sql`
        insert into decision (record_id, stage, check_name, owner_id, agent_id, message_id, request_id,
          detector, action, outcome, category, score, match_count, recorded_at)
        values (${data.recordId}, ${stage}, ${check}, ${data.ownerId}, ${data.agentId}, ${data.messageId}, ${textOrNull(data.requestId)},
          ${detector}, ${action}, ${outcome}, ${category}, ${score}, ${matchCount}, ${data.recordedAt})
        on conflict (record_id, stage, check_name) do update set action = excluded.action, outcome = excluded.outcome,
          category = excluded.category, score = excluded.score, match_count = excluded.match_count`,
      ),
    ],

    GuardrailRecordPurged: ({ data }, sql) => [
      sql`delete from decision where record_id = ${data.recordId}`,
      sql`delete from record where record_id = ${data.recordId}`,
    ],
  },
});

const textOrNull = (text: string | null) => (text === null ? null : asText(text));
