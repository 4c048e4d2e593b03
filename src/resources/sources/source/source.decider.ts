import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import { isArchiveName } from '../../documents/archive-name.policy.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { sourceCodec } from './source.codec.js';
import { DEFAULT_SOURCE_CONFIG, type SourceConfig } from './source-config.policy.js';
import type {
  IngestOperation,
  PageFailure,
  RemoteOrigin,
  Sitemap,
  SourceArchivesUnpacked,
  SourceCreated,
  SourceEvent,
  SourceFile,
  SourceId,
  SourceIngestStarted,
  SourcePagesFetched,
} from './source.events.js';
import type { SyncFrequency } from './sync.policy.js';

export type Pages = Omit<SourcePagesFetched['data'], 'sourceId' | 'ingestId'>;

/** The files of an upload after its archives are unpacked. */
export type UnpackedFiles = Omit<SourceArchivesUnpacked['data'], 'sourceId' | 'ingestId'>;

export type Ingest = Readonly<{
  ingestId: string;
  operation: IngestOperation;
  chunksId: string | undefined;
  /** How the chunks are cut, also by later attempts. Undefined before the ingestion starts. */
  chunking: SourceConfig['chunking'] | undefined;
  status: 'requested' | 'started' | 'completed' | 'failed';
  /** The uploaded files, with archives not unpacked. */
  uploaded: readonly SourceFile[];
  /** The files to ingest. Undefined until the pages are fetched or the archives unpacked. */
  files: readonly SourceFile[] | undefined;
  sitemaps: readonly Sitemap[];
  failures: readonly PageFailure[];
  isCut: boolean;
}>;

/** The chunks that searches read, the ingestion that wrote them, how they are cut, and their files and sitemaps. */
type LiveChunks = Readonly<{
  ingestId: string;
  chunksId: string;
  chunking: SourceConfig['chunking'];
  files: readonly SourceFile[];
  sitemaps: readonly Sitemap[];
}>;

export type Source = Readonly<{
  status: 'none' | 'kept' | 'deleted';
  ownerId: string;
  name: string;
  config: SourceConfig;
  remote: RemoteOrigin | null;
  ingest: Ingest | undefined;
  live: LiveChunks | undefined;
  syncFrequency: SyncFrequency;
  nextSyncAt: string | null;
}>;

const initial: Source = {
  status: 'none',
  ownerId: '',
  name: '',
  config: DEFAULT_SOURCE_CONFIG,
  remote: null,
  ingest: undefined,
  live: undefined,
  syncFrequency: 'never',
  nextSyncAt: null,
};

const NOT_BEGUN = {
  status: 'requested',
  chunksId: undefined,
  chunking: undefined,
  sitemaps: [],
  failures: [],
  isCut: false,
} as const;

export const source: Aggregate<Source, SourceEvent> = { initial, evolve, codec: sourceCodec };

function evolve(state: Source, event: SourceEvent): Source {
  switch (event.type) {
    case 'SourceCreated': {
      const { ownerId, name, config, remote } = event.data;
      return { ...state, status: 'kept', ownerId, name, config, remote };
    }
    case 'SourceConfigured':
      return { ...state, config: event.data.config };
    case 'SourceIngestRequested': {
      const { ingestId, operation, files: uploaded } = event.data;
      const isToBeGathered = state.remote !== null || uploaded.some(({ filename }) => isArchiveName(filename));
      const files = isToBeGathered ? undefined : uploaded;
      return { ...state, ingest: { ...NOT_BEGUN, ingestId, operation, uploaded, files } };
    }
    case 'SourcePagesFetched': {
      const { files, sitemaps, failures, isCut } = event.data;
      return withIngest(state, { files, sitemaps, failures, isCut });
    }
    case 'SourceArchivesUnpacked': {
      const { files, failures, isCut } = event.data;
      return withIngest(state, { files, failures, isCut });
    }
    case 'SourceIngestStarted':
      return withIngest(state, { status: 'started', chunksId: event.data.chunksId, chunking: chunkingOf(state, event.data) });
    case 'SourceIngestCompleted': {
      const { ingestId, chunksId } = event.data;
      const writer = state.live?.chunksId === chunksId ? state.live.ingestId : ingestId;
      const { files = [], sitemaps = [], chunking = state.config.chunking } = state.ingest ?? {};
      const live = { ingestId: writer, chunksId, chunking, files, sitemaps };
      return withIngest({ ...state, live }, { status: 'completed' });
    }
    case 'SourceIngestFailed':
      return withIngest(state, { status: 'failed' });
    case 'SourceSyncFrequencySet':
      return { ...state, syncFrequency: event.data.frequency, nextSyncAt: event.data.nextSyncAt };
    case 'SourceSyncDue':
      return { ...state, nextSyncAt: event.data.nextSyncAt };
    case 'SourceDeleted':
      return { ...state, status: 'deleted', ingest: undefined, live: undefined, nextSyncAt: null };
  }
}

/** Existing chunks keep their chunking. New ones get that of the config when the ingestion starts. */
const chunkingOf = ({ live, ingest, config }: Source, { chunksId }: SourceIngestStarted['data']): SourceConfig['chunking'] =>
  [live, ingest].find((known) => known?.chunksId === chunksId)?.chunking ?? config.chunking;

const withIngest = (state: Source, change: Partial<Ingest>): Source =>
  state.ingest ? { ...state, ingest: { ...state.ingest, ...change } } : state;

/** Creates a source and requests its ingestion. A repetition with the same id changes nothing. */
export const createSource =
  (created: SourceCreated['data'], ingestId: string, files: readonly SourceFile[]): Decision<Source, SourceEvent> =>
  (state) => {
    if (state.status !== 'none') return [];
    const { sourceId, ownerId } = created;
    return [
      { type: 'SourceCreated', data: created },
      { type: 'SourceIngestRequested', data: { sourceId, ingestId, ownerId, files, operation: 'upload' } },
    ];
  };

/** Records the fetched pages, unless another attempt has recorded them. */
export const keepPages =
  (sourceId: SourceId, ingestId: string, pages: Pages): Decision<Source, SourceEvent> =>
  (state) => {
    const { files } = requireIngest(state, ingestId);
    return files ? [] : [{ type: 'SourcePagesFetched', data: { sourceId, ingestId, ...pages } }];
  };

/** Records the unpacked files, unless another attempt has recorded them. */
export const keepUnpackedFiles =
  (sourceId: SourceId, ingestId: string, unpacked: UnpackedFiles): Decision<Source, SourceEvent> =>
  (state) => {
    const { files } = requireIngest(state, ingestId);
    return files ? [] : [{ type: 'SourceArchivesUnpacked', data: { sourceId, ingestId, ...unpacked } }];
  };

/** Records the id of the chunks. An attempt that continues another uses the same id. */
export const startIngest =
  (sourceId: SourceId, ingestId: string, chunksId: string): Decision<Source, SourceEvent> =>
  (state) => {
    const { status, chunksId: current } = requireIngest(state, ingestId);
    if (status === 'completed' || (status === 'started' && current === chunksId)) return [];
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
    if (ingest.status !== 'started' || ingest.chunksId !== chunksId) throw superseded(ingestId);
    return [{ type: 'SourceIngestCompleted', data: { sourceId, ingestId, chunksId, ...totals } }];
  };

/** Does nothing if the ingestion has ended or the source is deleted. */
export const failIngest =
  (sourceId: SourceId, ingestId: string, reason: string): Decision<Source, SourceEvent> =>
  (state) =>
    openIngest(state)?.ingestId === ingestId ? [{ type: 'SourceIngestFailed', data: { sourceId, ingestId, reason } }] : [];

/** @throws Rejection `source-not-found` if the owner has no such source */
export const deleteSource =
  (sourceId: SourceId, ownerId: string): Decision<Source, SourceEvent> =>
  (state) => {
    if (state.status === 'none' || state.ownerId !== ownerId) throw sourceNotFound();
    return state.status === 'deleted' ? [] : [{ type: 'SourceDeleted', data: { sourceId } }];
  };

/** The id of a source's credentials. Null if it has none. */
export const credentialsOf = ({ remote }: Source): string | null =>
  remote && 'credentialsId' in remote ? remote.credentialsId : null;

/** The running ingestion, if there is one. */
export const openIngest = ({ ingest }: Source): Ingest | undefined =>
  ingest?.status === 'requested' || ingest?.status === 'started' ? ingest : undefined;

function requireIngest({ status, ingest }: Source, ingestId: string): Ingest {
  if (status !== 'kept' || !ingest) throw new Rejection('source-not-found', 'The source was deleted.');
  if (ingest.ingestId !== ingestId || ingest.status === 'failed') throw superseded(ingestId);
  return ingest;
}

export const sourceNotFound = () => new Rejection('source-not-found', 'Source not found');
const superseded = (id: string) => new Rejection('ingest-superseded', `Another ingestion has replaced ${id}.`);
