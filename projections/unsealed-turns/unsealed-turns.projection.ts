import { conversationCodec } from '../../src/conversation/conversation.codec.js';
import type { ConversationEvent } from '../../src/conversation/conversation.events.js';
import { changeIn, defineProjection, insertInto, removeFrom } from '../projection.js';

/** The turns whose journal is not complete yet, and who is (or was) writing it. */
export const unsealedTurns = defineProjection<ConversationEvent>({
  name: 'unsealed-turns',
  categories: ['conversation'],
  codec: conversationCodec,
  ddl: new URL('./unsealed-turns.sql', import.meta.url),

  on: {
    TurnAsked: ({ data, at }) =>
      insertInto('unsealed_turn', { turn_id: data.turnId, conversation_id: data.conversationId, since: at }),

    TurnStarted: ({ data, at }) => changeIn('unsealed_turn', { turn_id: data.turnId }, { producer: data.producer, since: at }),

    TurnSealed: ({ data }) => removeFrom('unsealed_turn', { turn_id: data.turnId }),
  },
});
