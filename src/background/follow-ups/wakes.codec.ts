import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { WakesEvent } from './wakes.events.js';

export const wakesCodec: Codec<WakesEvent> = {
  WakeRequested: [],
  WakesGathered: [],
  WakeDelivered: [],
  WakeFolded: [],
  WakeSuppressed: [],
  WakeSuperseded: [],
  WakeFailed: [],
};
