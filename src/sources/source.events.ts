import type { Event } from '../kernel/events.js';
import type { Chunk } from './document.port.js';
import type { SourceConfig } from './source-config.policy.js';

export type SourceId = string;

/** An uploaded file; its bytes are a blob. */
export type SourceFile = Readonly<{ filename: string; sha256: string; size: number }>;

export type SourceCreated = Event<'SourceCreated', { sourceId: SourceId; ownerId: string; name: string; config: SourceConfig }>;
/** The files are to be made searchable, by the task with the id of the ingestion. */
export type SourceIngestRequested = Event<
  'SourceIngestRequested',
  { sourceId: SourceId; ingestId: string; ownerId: string; files: readonly SourceFile[] }
>;
/** The chunks are being written to the stream of `chunksId`. */
export type SourceIngestStarted = Event<'SourceIngestStarted', { sourceId: SourceId; ingestId: string; chunksId: string }>;
/** From here on these chunks are what is searched, and no others of the source. */
export type SourceIngestCompleted = Event<
  'SourceIngestCompleted',
  { sourceId: SourceId; ingestId: string; chunksId: string; chunks: number; tokens: number }
>;
export type SourceIngestFailed = Event<'SourceIngestFailed', { sourceId: SourceId; ingestId: string; reason: string }>;
export type SourceDeleted = Event<'SourceDeleted', { sourceId: SourceId }>;

export type SourceEvent =
  SourceCreated | SourceIngestRequested | SourceIngestStarted | SourceIngestCompleted | SourceIngestFailed | SourceDeleted;

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

export const chunksStream = (chunksId: string): string => `chunks-${chunksId}`;
