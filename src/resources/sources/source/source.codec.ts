import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { ChunksEvent, SourceEvent } from './source.events.js';

export const sourceCodec: Codec<SourceEvent> = {
  SourceCreated: [],
  SourceConfigured: [],
  SourceIngestRequested: [],
  SourcePagesFetched: [],
  SourceArchivesUnpacked: [],
  SourceIngestStarted: [],
  SourceIngestCompleted: [],
  SourceIngestFailed: [],
  SourceSyncFrequencySet: [],
  SourceSyncDue: [],
  SourceDeleted: [],
};

export const chunksCodec: Codec<ChunksEvent> = {
  SourceChunksIngested: [],
  SourceChunkAdded: [],
  SourceChunkChanged: [],
  SourceChunkRemoved: [],
  SourceChunksPurged: [],
};
