import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { JournalsEvent } from './journals.events.js';

export const journalsCodec: Codec<JournalsEvent> = {
  JournalsExpired: [],
};
