import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { Chunk } from '../../documents/document.port.js';
import type { SourceConfig } from './source-config.policy.js';
import type { SyncFrequency } from './sync.policy.js';

export type SourceId = string;

/** An uploaded file, one that was inside of an uploaded archive, or a page as it was fetched; its bytes are a blob. */
export type SourceFile = Readonly<{
  filename: string;
  sha256: string;
  size: number;
  /** Where a page was fetched from, and the address that led there, if that is another one. */
  url?: string;
  requestedUrl?: string;
  /** The uploaded archive that it was in. */
  archive?: string;
  /** What the store that it is kept in calls its content. */
  version?: string;
}>;

/** A sitemap as it was read at its address; its text is a blob. */
export type Sitemap = Readonly<{ url: string; sha256: string; size: number }>;

export const REMOTE_KINDS = ['url', 'sitemap', 'crawler', 'github', 's3'] as const;
export type RemoteKind = (typeof REMOTE_KINDS)[number];

/** Pages on the web: these themselves, those that sitemaps list, or those that one leads to. */
export type PagesOrigin = Readonly<{ kind: 'url' | 'sitemap' | 'crawler'; urls: readonly string[] }>;

/** The files of a repository, `owner/name`: of its default branch, or at a place, which begins with a branch, a tag or a commit. */
export type GithubOrigin = Readonly<{
  kind: 'github';
  urls: readonly string[];
  repository: string;
  place: string | null;
  /** Under which the access token is kept; null without one. */
  credentialsId: string | null;
}>;

/** The objects of a bucket. Without an endpoint it is one of Amazon's. */
export type S3Origin = Readonly<{
  kind: 's3';
  urls: readonly string[];
  bucket: string;
  prefix: string;
  region: string;
  endpointUrl: string | null;
  credentialsId: string | null;
}>;

/** Files that are kept elsewhere. */
export type StoreOrigin = GithubOrigin | S3Origin;

/** Where a source is fetched from. `urls` is what is shown of it. */
export type RemoteOrigin = PagesOrigin | StoreOrigin;

/** A page that could not be fetched, or a file, by its path, that is not read, and why. */
export type PageFailure = Readonly<{ url: string; reason: string }>;

/** Why a source is ingested: it is new, its pages are to be fetched anew, or its files are to be read anew. */
export type IngestOperation = 'upload' | 'sync' | 'reingest';

export type SourceCreated = Event<
  'SourceCreated',
  { sourceId: SourceId; ownerId: string; name: string; config: SourceConfig; remote: RemoteOrigin | null }
>;
/** From here on it is searched so; what is searched stays cut as it is until the source is ingested again. */
export type SourceConfigured = Event<'SourceConfigured', { sourceId: SourceId; config: SourceConfig }>;
/** The files, or pages that are still to be fetched, are to be made searchable by the task with the id of the ingestion. */
export type SourceIngestRequested = Event<
  'SourceIngestRequested',
  { sourceId: SourceId; ingestId: string; ownerId: string; files: readonly SourceFile[]; operation: IngestOperation }
>;
/** From here on the ingestion is one of these files: a worker that continues it fetches nothing. Cut: there were more pages. */
export type SourcePagesFetched = Event<
  'SourcePagesFetched',
  {
    sourceId: SourceId;
    ingestId: string;
    files: readonly SourceFile[];
    /** What the pages were listed in. */
    sitemaps: readonly Sitemap[];
    failures: readonly PageFailure[];
    isCut: boolean;
  }
>;
/** The archives among the uploaded files were unpacked: from here on the ingestion is one of these files. Cut: there were more. */
export type SourceArchivesUnpacked = Event<
  'SourceArchivesUnpacked',
  {
    sourceId: SourceId;
    ingestId: string;
    files: readonly SourceFile[];
    /** Files inside that are not read, and why. */
    failures: readonly PageFailure[];
    isCut: boolean;
  }
>;
/** The chunks are being written to the stream of `chunksId`. */
export type SourceIngestStarted = Event<'SourceIngestStarted', { sourceId: SourceId; ingestId: string; chunksId: string }>;
/** From here on these chunks are what is searched, and no others of the source. */
export type SourceIngestCompleted = Event<
  'SourceIngestCompleted',
  { sourceId: SourceId; ingestId: string; chunksId: string; chunks: number; tokens: number }
>;
export type SourceIngestFailed = Event<'SourceIngestFailed', { sourceId: SourceId; ingestId: string; reason: string }>;
/** How often the pages are fetched anew, and when next; null for never. */
export type SourceSyncFrequencySet = Event<
  'SourceSyncFrequencySet',
  { sourceId: SourceId; frequency: SyncFrequency; nextSyncAt: string | null }
>;
/** A time to sync has come, for the ingestion that begins with it or is under way already; the next one stands. */
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

/** A batch of one file's chunks, in order; ordinals count through all files of the ingestion. */
export type SourceChunksIngested = Event<
  'SourceChunksIngested',
  {
    chunksId: string;
    sourceId: SourceId;
    /** Which of the ingestion's files, counted from 0, and whether this was the last batch of it. */
    file: number;
    isLastOfFile: boolean;
    firstOrdinal: number;
    embeddingModel: string | null;
    chunks: readonly IngestedChunk[];
  }
>;

/** Nothing is kept of these chunks: others are searched in their place, they were never all there, or their source is gone. */
export type SourceChunksPurged = Event<'SourceChunksPurged', { chunksId: string; sourceId: SourceId }>;

type ChunkPlace = { chunksId: string; sourceId: SourceId; ordinal: number };

/** The owner has written a chunk, behind all others. Like other edits it goes with the chunks of its ingestion. */
export type SourceChunkAdded = Event<'SourceChunkAdded', ChunkPlace & { embeddingModel: string | null; chunk: IngestedChunk }>;
/** The owner has rewritten a chunk: it is this one from here on. */
export type SourceChunkChanged = Event<
  'SourceChunkChanged',
  ChunkPlace & { embeddingModel: string | null; chunk: IngestedChunk }
>;
export type SourceChunkRemoved = Event<'SourceChunkRemoved', ChunkPlace>;

export type ChunkEdit = SourceChunkAdded | SourceChunkChanged | SourceChunkRemoved;

export type ChunksEvent = SourceChunksIngested | ChunkEdit | SourceChunksPurged;

export const chunksStream = (chunksId: string): string => `chunks-${chunksId}`;
