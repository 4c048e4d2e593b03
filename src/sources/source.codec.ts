import type { Codec } from '../kernel/codec.js';
import type { SourceChunksIngested, SourceEvent } from './source.events.js';

export const sourceCodec: Codec<SourceEvent> = {
  SourceCreated: [],
  SourceIngestRequested: [],
  SourceIngestStarted: [],
  SourceIngestCompleted: [],
  SourceIngestFailed: [],
  SourceDeleted: [],
};

export const chunksCodec: Codec<SourceChunksIngested> = { SourceChunksIngested: [] };
