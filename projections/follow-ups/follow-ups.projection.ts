import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type {
  ConversationDeleted,
  ConversationEvent,
  ConversationPurged,
  TurnOutcome,
} from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { expiredFollowUpsCodec } from '../../src/background/follow-ups/expired-follow-ups.codec.js';
import type { ExpiredFollowUpsEvent } from '../../src/background/follow-ups/expired-follow-ups.events.js';
import { followUpsCodec } from '../../src/background/follow-ups/follow-ups.codec.js';
import type { FollowUpId, FollowUpsEvent } from '../../src/background/follow-ups/follow-ups.events.js';
import {
  allWith,
  changeIn,
  type ChangedRow,
  defineProjection,
  inSet,
  insertInto,
  removeFrom,
  type RemovedRow,
  type RowOfSet,
} from '../projection.js';
import { asText } from '../text.js';

/** The number of characters that are stored of a follow-up's text. */
export const TEXT_HEAD_CHARACTERS = 300;

/** The follow-ups of conversations with their outcomes, and the conversations that have an open turn. */
export const followUps = defineProjection<FollowUpsEvent | ExpiredFollowUpsEvent | ConversationEvent>({
  name: 'follow-ups',
  categories: ['followUps', 'expiredFollowUps', 'conversation'],
  codec: { ...followUpsCodec, ...expiredFollowUpsCodec, ...conversationCodec },
  ddl: new URL('./follow-ups.sql', import.meta.url),

  on: {
    FollowUpRequested: ({ data, at }) =>
      insertInto('follow_up', {
        follow_up_id: data.followUpId,
        conversation_id: data.conversationId,
        owner_id: data.ownerId,
        source: data.source,
        ref_id: asText(data.refId),
        dedupe_key: asText(data.dedupeKey),
        state: 'pending',
        text_head: asText([...data.text].slice(0, TEXT_HEAD_CHARACTERS).join('')),
        requested_at: at,
      }),

    FollowUpsGathered: ({ data: { followUpIds, turnId } }) =>
      followUpIds.map((followUpId) => changeIn('follow_up', { follow_up_id: followUpId }, { state: 'claimed', turn_id: turnId })),

    FollowUpDelivered: ({ data, at }) => settled(data.followUpId, 'delivered', at, { turn_id: data.turnId }),
    FollowUpMerged: ({ data, at }) => settled(data.followUpId, 'merged', at, { turn_id: data.turnId }),
    FollowUpSuppressed: ({ data, at }) => settled(data.followUpId, 'suppressed', at, { turn_id: null, reason: data.reason }),
    FollowUpSuperseded: ({ data, at }) => settled(data.followUpId, 'superseded', at, { turn_id: null }),
    FollowUpFailed: ({ data, at }) => settled(data.followUpId, 'failed', at, { turn_id: null, reason: asText(data.error) }),

    FollowUpsExpired: ({ data }) => data.followUpIds.map((followUpId) => removeFrom('follow_up', { follow_up_id: followUpId })),

    TurnAsked: ({ data }) => insertInto('turn_under_way', { turn_id: data.turnId, conversation_id: data.conversationId }),
    TurnAnswered: over,
    TurnFailed: over,
    TurnStopped: over,
    ConversationDeleted: notUnderWay,
    ConversationPurged: notUnderWay,
  },
});

const settled = (
  followUpId: FollowUpId,
  state: string,
  at: Date,
  more: Readonly<{ turn_id: string | null; reason?: string }>,
): ChangedRow => changeIn('follow_up', { follow_up_id: followUpId }, { state, settled_at: at, ...more });

function over({ data }: Recorded<TurnOutcome>): RemovedRow {
  return removeFrom('turn_under_way', { turn_id: data.turnId });
}

function notUnderWay({ data }: Recorded<ConversationDeleted | ConversationPurged>): RowOfSet {
  return inSet(NOT_UNDER_WAY, { conversation_id: data.conversationId });
}

const NOT_UNDER_WAY = allWith('conversation_id', 'turn_under_way');
