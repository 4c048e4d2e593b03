import { purgeOf } from '../../../kernel/event-sourcing/purge.js';
import { chunksCodec } from './source.codec.js';
import type { SourceChunksPurged } from './source.events.js';

export const sourcePurges = [purgeOf<SourceChunksPurged>({ category: 'chunks', codec: chunksCodec, type: 'SourceChunksPurged' })];
