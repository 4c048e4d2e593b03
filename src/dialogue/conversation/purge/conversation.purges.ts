import { purgeOf } from '../../../kernel/event-sourcing/purge.js';
import { conversationCodec } from '../conversation.codec.js';
import { type ConversationPurged, conversationStream } from '../conversation.events.js';

export const conversationPurges = [
  purgeOf<ConversationPurged>({
    category: 'conversation',
    codec: conversationCodec,
    type: 'ConversationPurged',
    truncated: ({ data }) => [{ stream: conversationStream(data.conversationId), before: data.keptFrom }],
  }),
];
