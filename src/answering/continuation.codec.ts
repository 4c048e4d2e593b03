import type { Codec } from '../kernel/codec.js';
import type { ContinuationEvent } from './continuation.events.js';

export const continuationCodec: Codec<ContinuationEvent> = {
  ContinuationDropped: [],
};
