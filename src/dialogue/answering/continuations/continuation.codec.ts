import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { ContinuationEvent } from './continuation.events.js';

export const continuationCodec: Codec<ContinuationEvent> = {
  ContinuationDropped: [],
};
