import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type { ConversationEvent } from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { changeIn, type ChangedRow, defineProjection, inSet, insertInto, removeFrom, type SetStatement } from '../projection.js';

/**
 * The turns whose journal is not sealed yet, with the producer that last took each of them and the time at which its pause
 * expires.
 */
export const unsealedTurns = defineProjection<ConversationEvent>({
  name: 'unsealed-turns',
  version: 1,
  categories: ['conversation'],
  codec: conversationCodec,
  ddl: new URL('./unsealed-turns.sql', import.meta.url),

  on: {
    TurnAsked: ({ data, at }) =>
      insertInto('unsealed_turn', {
        turn_id: data.turnId,
        conversation_id: data.conversationId,
        since: at,
        agent_id: data.settings.agentKeyId === null ? data.settings.agentId : null,
      }),

    TurnStarted: ({ data, at }) => changeIn('unsealed_turn', { turn_id: data.turnId }, { producer: data.producer, since: at }),

    TurnPaused: ({ data }) => changeIn('unsealed_turn', { turn_id: data.turnId }, { expires_at: data.expiresAt }),

    TurnResumed: nobodys,
    TurnRequeued: nobodys,

    // These events begin the end of a pause that was not resumed. A runner only has to write the end of the journal.
    ToolCallDenied: (event) => (event.data.notRun === 'expired' || event.data.notRun === 'moved_on' ? nobodys(event) : []),

    TurnAnswered: waitsNoMore,
    TurnFailed: waitsNoMore,
    TurnStopped: waitsNoMore,

    ConversationDeleted: ({ data, at }) => inSet(WAITING_OF_DELETED, { conversation_id: data.conversationId, at }),

    TurnSealed: ({ data }) => removeFrom('unsealed_turn', { turn_id: data.turnId }),
    TurnsPurged: ({ data }) => data.turns.map(({ turnId }) => removeFrom('unsealed_turn', { turn_id: turnId })),
  },
});

/** Releases the paused turns of deleted conversations, because a runner has to end their journals. */
const WAITING_OF_DELETED: SetStatement = {
  columns: { conversation_id: 'text', at: 'timestamptz' },
  tables: ['unsealed_turn'],
  step: 1,
  statement: ({ sql, rows, table }) => sql`
    update ${table('unsealed_turn')} as turn set producer = null, expires_at = null, since = told.at
    from ${rows} where turn.conversation_id = told.conversation_id and turn.expires_at is not null`,
};

type OfTurn = Recorded<Extract<ConversationEvent, { data: { turnId: string } }>>;

/** Releases a turn, so that any runner may take it. */
function nobodys({ data, at }: OfTurn): ChangedRow {
  return changeIn('unsealed_turn', { turn_id: data.turnId }, { producer: null, expires_at: null, since: at });
}

function waitsNoMore({ data }: OfTurn): ChangedRow {
  return changeIn('unsealed_turn', { turn_id: data.turnId }, { expires_at: null });
}
