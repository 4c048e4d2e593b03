import { purgeOf } from '../../../kernel/event-sourcing/purge.js';
import { responseCodec } from './response.codec.js';
import type { ResponseDeleted, ResponseExpired } from './response.events.js';

export const responsePurges = [
  purgeOf<ResponseDeleted>({ category: 'response', codec: responseCodec, type: 'ResponseDeleted' }),
  purgeOf<ResponseExpired>({ category: 'response', codec: responseCodec, type: 'ResponseExpired' }),
];
