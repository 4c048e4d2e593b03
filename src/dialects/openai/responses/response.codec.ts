import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { ResponseEvent } from './response.events.js';

export const responseCodec: Codec<ResponseEvent> = {
  ResponseCreated: [],
  ResponseDeleted: [],
  ResponseExpired: [],
};
