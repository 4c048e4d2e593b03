import type { Codec } from '../kernel/codec.js';
import type { ExpiredWakesEvent } from './expired-wakes.events.js';

export const expiredWakesCodec: Codec<ExpiredWakesEvent> = {
  WakesExpired: [],
};
