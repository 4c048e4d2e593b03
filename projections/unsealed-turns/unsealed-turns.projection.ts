import { conversationCodec } from '../../src/conversation/conversation.codec.js';
import type { ConversationEvent } from '../../src/conversation/conversation.events.js';
import { defineProjection } from '../projection.js';

/** The turns whose journal is not complete yet, and who is (or was) writing it. */
export const unsealedTurns = defineProjection<ConversationEvent>({
  name: 'unsealed-turns',
  categories: ['conversation'],
  codec: conversationCodec,
  ddl: new URL('./unsealed-turns.sql', import.meta.url),

  on: {
    TurnAsked: ({ data, at }, sql) => sql`
      insert into unsealed_turn (turn_id, conversation_id, since) values (${data.turnId}, ${data.conversationId}, ${at})
      on conflict (turn_id) do nothing`,

    TurnStarted: ({ data, at }, sql) => sql`
      update unsealed_turn set producer = ${data.producer}, since = ${at} where turn_id = ${data.turnId}`,

    TurnSealed: ({ data }, sql) => sql`delete from unsealed_turn where turn_id = ${data.turnId}`,

    ConversationDeleted: ({ data }, sql) => sql`delete from unsealed_turn where conversation_id = ${data.conversationId}`,
  },
});
