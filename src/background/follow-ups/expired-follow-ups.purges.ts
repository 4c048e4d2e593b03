import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { expiredFollowUpsCodec } from './expired-follow-ups.codec.js';
import type { FollowUpsExpired } from './expired-follow-ups.events.js';
import { followUpsStream } from './follow-ups.events.js';

export const followUpPurges = [
  purgeOf<FollowUpsExpired>({
    category: 'expiredFollowUps',
    codec: expiredFollowUpsCodec,
    type: 'FollowUpsExpired',
    truncated: ({ data }) => [{ stream: followUpsStream(data.conversationId), before: data.before }],
  }),
];
