import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { ExpiredFollowUpsEvent } from './expired-follow-ups.events.js';

export const expiredFollowUpsCodec: Codec<ExpiredFollowUpsEvent> = {
  FollowUpsExpired: [],
};
