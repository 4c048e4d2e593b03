import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { conversationCodec } from '../conversation/conversation.codec.js';
import type { TurnsPurged } from '../conversation/conversation.events.js';
import { messageStream } from './message.events.js';

export const journalPurges = [
  purgeOf<TurnsPurged>({
    category: 'conversation',
    codec: conversationCodec,
    type: 'TurnsPurged',
    truncated: ({ data }) => data.turns.map(({ turnId, lastId }) => ({ stream: messageStream(turnId), before: lastId + 1 })),
  }),
];
