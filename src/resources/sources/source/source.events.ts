import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { Chunk } from '../../documents/document.port.js';
import type { SourceConfig } from './source-config.policy.js';
import type { SyncFrequency } from './sync.policy.js';

export type SourceId = string;

/** An uploaded file, a file from an uploaded archive, a fetched page, or a file from an external store. Its bytes are a blob. */
export type SourceFile = Readonly<{
  filename: string;
  sha256: string;
  size: number;
  /** The address of a page after redirects, and the requested address if it differs. */
  url?: string;
  requestedUrl?: string;
  /** The uploaded archive that contained the file. */
  archive?: string;
  /** The external store's identifier of the content. */
  version?: string;
}>;

/** A fetched sitemap. Its text is a blob. */
export type Sitemap = Readonly<{ url: string; sha256: string; size: number }>;

export const REMOTE_KINDS = ['url', 'sitemap', 'crawler', 'github', 's3'] as const;
export type RemoteKind = (typeof REMOTE_KINDS)[number];

/** Web pages: the listed ones, those in sitemaps, or those that a crawl reaches. */
export type PagesOrigin = Readonly<{ kind: 'url' | 'sitemap' | 'crawler'; urls: readonly string[] }>;

/** The files of a repository `owner/name`: of its default branch, or of a place that begins with a branch, tag or commit. */
export type GithubOrigin = Readonly<{
  kind: 'github';
  urls: readonly string[];
  repository: string;
  place: string | null;
  /** The id of the stored access token. Null without one. */
  credentialsId: string | null;
}>;

/** The objects of a bucket. Without an endpoint it is an Amazon bucket. */
export type S3Origin = Readonly<{
  kind: 's3';
  urls: readonly string[];
  bucket: string;
  prefix: string;
  region: string;
  endpointUrl: string | null;
  credentialsId: string | null;
}>;

/** An external store of files. */
export type StoreOrigin = GithubOrigin | S3Origin;

/** Where a source is fetched from. Clients are shown `urls`. */
export type RemoteOrigin = PagesOrigin | StoreOrigin;

/** A page that could not be fetched, or a file (named by its path) that is not read, and the reason. */
export type PageFailure = Readonly<{ url: string; reason: string }>;

/** Why a source is ingested: it is new, its pages are fetched again, or its files are parsed again. */
export type IngestOperation = 'upload' | 'sync' | 'reingest';

export type SourceCreated = Event<
  'SourceCreated',
  { sourceId: SourceId; ownerId: string; name: string; config: SourceConfig; remote: RemoteOrigin | null }
>;
/** The config changed. Searches use it at once. Existing chunks are not cut anew until the next ingestion. */
export type SourceConfigured = Event<'SourceConfigured', { sourceId: SourceId; config: SourceConfig }>;
/** An ingestion was requested. The task with the id `ingestId` does it. `files` is empty for pages, which are fetched first. */
export type SourceIngestRequested = Event<
  'SourceIngestRequested',
  { sourceId: SourceId; ingestId: string; ownerId: string; files: readonly SourceFile[]; operation: IngestOperation }
>;
/** The pages were fetched. A worker that continues the ingestion does not fetch again. `isCut`: there are more pages. */
export type SourcePagesFetched = Event<
  'SourcePagesFetched',
  {
    sourceId: SourceId;
    ingestId: string;
    files: readonly SourceFile[];
    /** The sitemaps that list the pages. */
    sitemaps: readonly Sitemap[];
    failures: readonly PageFailure[];
    isCut: boolean;
  }
>;
/** The archives of an upload were unpacked. The ingestion continues with these files. `isCut`: there are more files. */
export type SourceArchivesUnpacked = Event<
  'SourceArchivesUnpacked',
  {
    sourceId: SourceId;
    ingestId: string;
    files: readonly SourceFile[];
    /** Files in the archives that are not read, and the reasons. */
    failures: readonly PageFailure[];
    isCut: boolean;
  }
>;
/** The chunks are being written to the stream of `chunksId`. */
export type SourceIngestStarted = Event<'SourceIngestStarted', { sourceId: SourceId; ingestId: string; chunksId: string }>;
/** The ingestion is complete. From now on only these chunks of the source are searched. */
export type SourceIngestCompleted = Event<
  'SourceIngestCompleted',
  { sourceId: SourceId; ingestId: string; chunksId: string; chunks: number; tokens: number }
>;
export type SourceIngestFailed = Event<'SourceIngestFailed', { sourceId: SourceId; ingestId: string; reason: string }>;
/** The owner set how often the pages are fetched again. `nextSyncAt` is null for never. */
export type SourceSyncFrequencySet = Event<
  'SourceSyncFrequencySet',
  { sourceId: SourceId; frequency: SyncFrequency; nextSyncAt: string | null }
>;
/**
 * A sync fell due. `ingestId` is the ingestion that it started or that was already running. `nextSyncAt` is the next due time.
 */
export type SourceSyncDue = Event<'SourceSyncDue', { sourceId: SourceId; ingestId: string; dueAt: string; nextSyncAt: string }>;
export type SourceDeleted = Event<'SourceDeleted', { sourceId: SourceId }>;

export type SourceEvent =
  | SourceCreated
  | SourceConfigured
  | SourceIngestRequested
  | SourcePagesFetched
  | SourceArchivesUnpacked
  | SourceIngestStarted
  | SourceIngestCompleted
  | SourceIngestFailed
  | SourceSyncFrequencySet
  | SourceSyncDue
  | SourceDeleted;

export const sourceStream = (sourceId: SourceId): string => `source-${sourceId}`;

/** Little-endian float32 numbers in Base64. */
export type EncodedEmbedding = string;

export type IngestedChunk = Chunk & Readonly<{ filename: string; embedding?: EncodedEmbedding }>;

/** A batch of one file's chunks, in order. Ordinals are numbered across all files of the ingestion. */
export type SourceChunksIngested = Event<
  'SourceChunksIngested',
  {
    chunksId: string;
    sourceId: SourceId;
    /** The index of the file in the ingestion, from 0, and whether this is its last batch. */
    file: number;
    isLastOfFile: boolean;
    firstOrdinal: number;
    embeddingModel: string | null;
    chunks: readonly IngestedChunk[];
  }
>;

/** The chunks are deleted, because others replaced them, their ingestion failed, or their source was deleted. */
export type SourceChunksPurged = Event<'SourceChunksPurged', { chunksId: string; sourceId: SourceId }>;

type ChunkPlace = { chunksId: string; sourceId: SourceId; ordinal: number };

/** The owner added a chunk after all others. Like other edits it is purged with the chunks of its ingestion. */
export type SourceChunkAdded = Event<'SourceChunkAdded', ChunkPlace & { embeddingModel: string | null; chunk: IngestedChunk }>;
/** The owner replaced the content of a chunk. */
export type SourceChunkChanged = Event<
  'SourceChunkChanged',
  ChunkPlace & { embeddingModel: string | null; chunk: IngestedChunk }
>;
export type SourceChunkRemoved = Event<'SourceChunkRemoved', ChunkPlace>;

export type ChunkEdit = SourceChunkAdded | SourceChunkChanged | SourceChunkRemoved;

export type ChunksEvent = SourceChunksIngested | ChunkEdit | SourceChunksPurged;

export const chunksStream = (chunksId: string): string => `chunks-${chunksId}`;
