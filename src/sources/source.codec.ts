import type { Codec } from '../kernel/codec.js';
import type { SourceChunksIngested, SourceCreated, SourceEvent, SourceIngestRequested } from './source.events.js';

/** Sources were uploads alone. */
const asUploaded = (data: Omit<SourceCreated['data'], 'remote'>): SourceCreated['data'] => ({ ...data, remote: null });

/** An upload was ingested once. */
const asFirstIngested = (data: Omit<SourceIngestRequested['data'], 'operation'>): SourceIngestRequested['data'] => ({
  ...data,
  operation: 'upload',
});

export const sourceCodec: Codec<SourceEvent> = {
  SourceCreated: [asUploaded],
  SourceIngestRequested: [asFirstIngested],
  SourcePagesFetched: [],
  SourceIngestStarted: [],
  SourceIngestCompleted: [],
  SourceIngestFailed: [],
  SourceSyncFrequencySet: [],
  SourceSyncFellDue: [],
  SourceDeleted: [],
};

export const chunksCodec: Codec<SourceChunksIngested> = { SourceChunksIngested: [] };
