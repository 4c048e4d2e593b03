import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { ChunksEvent, SourceCreated, SourceEvent, SourceIngestRequested, SourcePagesFetched } from './source.events.js';

/** Sources were uploads alone. */
const asUploaded = (data: Omit<SourceCreated['data'], 'remote'>): SourceCreated['data'] => ({ ...data, remote: null });

/** Of a config only what has an effect was kept. */
const asWithWholeConfig = ({ config, ...data }: SourceCreated['data']): SourceCreated['data'] => ({
  ...data,
  config: {
    kind: config.kind,
    chunking: { ...config.chunking, chunk_overlap: 0 },
    retrieval: {
      ...config.retrieval,
      reranker: null,
      prescreen: null,
      graph: { seed_strategy: 'entities', passage_nodes: true, blend_vector: true },
    },
    graph: { extraction_model: null, max_chunks: null, gleanings: 0 },
  },
});

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
  SourceCreated: [asUploaded, asWithWholeConfig],
  SourceConfigured: [],
  SourceIngestRequested: [asFirstIngested],
  SourcePagesFetched: [asWithoutSitemaps],
  SourceIngestStarted: [],
  SourceIngestCompleted: [],
  SourceIngestFailed: [],
  SourceSyncFrequencySet: [],
  SourceSyncDue: [],
  SourceDeleted: [],
};

export const chunksCodec: Codec<ChunksEvent> = { SourceChunksIngested: [], SourceChunksPurged: [] };
