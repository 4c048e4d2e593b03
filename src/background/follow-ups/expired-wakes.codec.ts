import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { ExpiredWakesEvent } from './expired-wakes.events.js';

export const expiredWakesCodec: Codec<ExpiredWakesEvent> = {
  WakesExpired: [],
};
