import type { Decision } from '../kernel/decider.js';
import { Rejection } from '../kernel/rejection.js';
import type { Aggregate } from '../kernel/streams.js';
import { sourceCodec } from './source.codec.js';
import { DEFAULT_SOURCE_CONFIG, type SourceConfig } from './source-config.policy.js';
import type { SourceCreated, SourceEvent, SourceFile, SourceId } from './source.events.js';

export type Ingest = Readonly<{
  ingestId: string;
  chunksId: string | undefined;
  status: 'requested' | 'started' | 'completed' | 'failed';
  files: readonly SourceFile[];
}>;

export type Source = Readonly<{
  status: 'none' | 'kept' | 'deleted';
  ownerId: string;
  name: string;
  config: SourceConfig;
  ingest: Ingest | undefined;
}>;

const initial: Source = { status: 'none', ownerId: '', name: '', config: DEFAULT_SOURCE_CONFIG, ingest: undefined };

export const source: Aggregate<Source, SourceEvent> = { initial, evolve, codec: sourceCodec };

function evolve(state: Source, event: SourceEvent): Source {
  switch (event.type) {
    case 'SourceCreated':
      return { ...state, status: 'kept', ownerId: event.data.ownerId, name: event.data.name, config: event.data.config };
    case 'SourceIngestRequested': {
      const { ingestId, files } = event.data;
      return { ...state, ingest: { ingestId, files, chunksId: undefined, status: 'requested' } };
    }
    case 'SourceIngestStarted':
      return withIngest(state, { status: 'started', chunksId: event.data.chunksId });
    case 'SourceIngestCompleted':
      return withIngest(state, { status: 'completed' });
    case 'SourceIngestFailed':
      return withIngest(state, { status: 'failed' });
    case 'SourceDeleted':
      return { ...state, status: 'deleted', ingest: undefined };
  }
}

const withIngest = (state: Source, change: Partial<Ingest>): Source =>
  state.ingest ? { ...state, ingest: { ...state.ingest, ...change } } : state;

/** A source of uploaded files, to be ingested at once. Whoever chose the ids may ask again. */
export const uploadSource =
  (created: SourceCreated['data'], ingestId: string, files: readonly SourceFile[]): Decision<Source, SourceEvent> =>
  (state) => {
    if (state.status !== 'none') return [];
    const { sourceId, ownerId } = created;
    return [
      { type: 'SourceCreated', data: created },
      { type: 'SourceIngestRequested', data: { sourceId, ingestId, ownerId, files } },
    ];
  };

/** Says where the chunks are being written. An attempt that continues another writes to the same place. */
export const startIngest =
  (sourceId: SourceId, ingestId: string, chunksId: string): Decision<Source, SourceEvent> =>
  (state) => {
    const { status, chunksId: standing } = requireIngest(state, ingestId);
    if (status === 'completed' || (status === 'started' && standing === chunksId)) return [];
    return [{ type: 'SourceIngestStarted', data: { sourceId, ingestId, chunksId } }];
  };

export const completeIngest =
  (
    sourceId: SourceId,
    ingestId: string,
    chunksId: string,
    totals: { chunks: number; tokens: number },
  ): Decision<Source, SourceEvent> =>
  (state) => {
    const ingest = requireIngest(state, ingestId);
    if (ingest.status === 'completed') return [];
    if (ingest.status !== 'started' || ingest.chunksId !== chunksId) throw superseded(sourceId);
    return [{ type: 'SourceIngestCompleted', data: { sourceId, ingestId, chunksId, ...totals } }];
  };

/** Of an ingestion that is over, or of a source that is gone, there is nothing to say. */
export const failIngest =
  (sourceId: SourceId, ingestId: string, reason: string): Decision<Source, SourceEvent> =>
  ({ ingest }) => {
    const isOpen = ingest?.ingestId === ingestId && (ingest.status === 'requested' || ingest.status === 'started');
    return isOpen ? [{ type: 'SourceIngestFailed', data: { sourceId, ingestId, reason } }] : [];
  };

/** @throws Rejection `source-not-found` when there is none, or it is somebody else's */
export const deleteSource =
  (sourceId: SourceId, ownerId: string): Decision<Source, SourceEvent> =>
  (state) => {
    if (state.status === 'none' || state.ownerId !== ownerId) throw notFound();
    return state.status === 'deleted' ? [] : [{ type: 'SourceDeleted', data: { sourceId } }];
  };

function requireIngest({ status, ingest }: Source, ingestId: string): Ingest {
  if (status !== 'kept' || !ingest) throw new Rejection('source-not-found', 'The source was deleted.');
  if (ingest.ingestId !== ingestId || ingest.status === 'failed') throw superseded(ingestId);
  return ingest;
}

const notFound = () => new Rejection('source-not-found', 'Source not found');
const superseded = (id: string) => new Rejection('ingest-superseded', `Another ingestion has taken the place of ${id}.`);
