import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { expiredWakesCodec } from './expired-wakes.codec.js';
import type { WakesExpired } from './expired-wakes.events.js';
import { wakesStream } from './wakes.events.js';

export const wakePurges = [
  purgeOf<WakesExpired>({
    category: 'expiredWakes',
    codec: expiredWakesCodec,
    type: 'WakesExpired',
    truncated: ({ data }) => ({ stream: wakesStream(data.conversationId), before: data.before }),
  }),
];
