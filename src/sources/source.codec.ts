import type { Codec } from '../kernel/codec.js';
import type { ChunksEvent, SourceCreated, SourceEvent, SourceIngestRequested, SourcePagesFetched } from './source.events.js';

/** Sources were uploads alone. */
const asUploaded = (data: Omit<SourceCreated['data'], 'remote'>): SourceCreated['data'] => ({ ...data, remote: null });

/** An upload was ingested once. */
const asFirstIngested = (data: Omit<SourceIngestRequested['data'], 'operation'>): SourceIngestRequested['data'] => ({
  ...data,
  operation: 'upload',
});

/** Of sitemaps only the pages were kept. */
const asWithoutSitemaps = (data: Omit<SourcePagesFetched['data'], 'sitemaps'>): SourcePagesFetched['data'] => ({
  ...data,
  sitemaps: [],
});

export const sourceCodec: Codec<SourceEvent> = {
  SourceCreated: [asUploaded],
  SourceIngestRequested: [asFirstIngested],
  SourcePagesFetched: [asWithoutSitemaps],
  SourceIngestStarted: [],
  SourceIngestCompleted: [],
  SourceIngestFailed: [],
  SourceSyncFrequencySet: [],
  SourceSyncFellDue: [],
  SourceDeleted: [],
};

export const chunksCodec: Codec<ChunksEvent> = { SourceChunksIngested: [], SourceChunksForgotten: [] };
