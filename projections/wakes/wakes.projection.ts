import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type { ConversationEvent, TurnOutcome } from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { expiredWakesCodec } from '../../src/background/follow-ups/expired-wakes.codec.js';
import type { ExpiredWakesEvent } from '../../src/background/follow-ups/expired-wakes.events.js';
import { wakesCodec } from '../../src/background/follow-ups/wakes.codec.js';
import type { WakeId, WakesEvent } from '../../src/background/follow-ups/wakes.events.js';
import { changeIn, type ChangedRow, defineProjection, insertInto, removeFrom, type RemovedRow } from '../projection.js';
import { asText } from '../text.js';

/** So much of what a model is told is shown of a wake. */
export const TEXT_HEAD_CHARACTERS = 300;

/** What had conversations go on by themselves, and what became of it; and which conversations are busy. */
export const wakes = defineProjection<WakesEvent | ExpiredWakesEvent | ConversationEvent>({
  name: 'wakes',
  categories: ['wakes', 'expiredWakes', 'conversation'],
  codec: { ...wakesCodec, ...expiredWakesCodec, ...conversationCodec },
  ddl: new URL('./wakes.sql', import.meta.url),

  on: {
    WakeRequested: ({ data, at }) =>
      insertInto('wake', {
        wake_id: data.wakeId,
        conversation_id: data.conversationId,
        owner_id: data.ownerId,
        source: data.source,
        ref_id: asText(data.refId),
        dedupe_key: asText(data.dedupeKey),
        state: 'pending',
        text_head: asText([...data.text].slice(0, TEXT_HEAD_CHARACTERS).join('')),
        requested_at: at,
      }),

    WakesGathered: ({ data: { wakeIds, turnId } }) =>
      wakeIds.map((wakeId) => changeIn('wake', { wake_id: wakeId }, { state: 'claimed', turn_id: turnId })),

    WakeDelivered: ({ data, at }) => settled(data.wakeId, 'delivered', at, { turn_id: data.turnId }),
    WakeFolded: ({ data, at }) => settled(data.wakeId, 'folded', at, { turn_id: data.turnId }),
    WakeSuppressed: ({ data, at }) => settled(data.wakeId, 'suppressed', at, { turn_id: null, reason: data.reason }),
    WakeSuperseded: ({ data, at }) => settled(data.wakeId, 'superseded', at, { turn_id: null }),
    WakeFailed: ({ data, at }) => settled(data.wakeId, 'failed', at, { turn_id: null, reason: asText(data.error) }),

    WakesExpired: ({ data }) => data.wakeIds.map((wakeId) => removeFrom('wake', { wake_id: wakeId })),

    TurnAsked: ({ data }) => insertInto('turn_under_way', { turn_id: data.turnId, conversation_id: data.conversationId }),
    TurnAnswered: over,
    TurnFailed: over,
    TurnStopped: over,
    ConversationDeleted: ({ data }, sql) => sql`delete from turn_under_way where conversation_id = ${data.conversationId}`,
  },
});

const settled = (
  wakeId: WakeId,
  state: string,
  at: Date,
  more: Readonly<{ turn_id: string | null; reason?: string }>,
): ChangedRow => changeIn('wake', { wake_id: wakeId }, { state, settled_at: at, ...more });

function over({ data }: Recorded<TurnOutcome>): RemovedRow {
  return removeFrom('turn_under_way', { turn_id: data.turnId });
}
