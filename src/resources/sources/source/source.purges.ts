import { purgeOf } from '../../../kernel/event-sourcing/purge.js';
import { chunksCodec } from './source.codec.js';
import type { SourceChunksForgotten } from './source.events.js';

export const sourcePurges = [
  purgeOf<SourceChunksForgotten>({ category: 'chunks', codec: chunksCodec, type: 'SourceChunksForgotten' }),
];
