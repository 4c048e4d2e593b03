import { decode } from '../../../kernel/event-sourcing/codec.js';
import type { EventStore, ExpectedRevision } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { Chunk } from '../../documents/document.port.js';
import type { Embeddings } from '../../models/model/embeddings.port.js';
import { chunksCodec } from '../source/source.codec.js';
import { type ChunksEvent, chunksStream, type IngestedChunk, type SourceChunksIngested } from '../source/source.events.js';
import { encodeEmbedding } from './vector-index.js';

/** The maximum bytes of a batch of chunks, which is one event, without the vectors. */
export const BATCH_BYTES_MAX = 256 * 1024;
/** A vector of 3072 numbers takes 16 KiB, so an event with this many is still below the maximum size of an event. */
const BATCH_VECTORS_MAX = 32;

/** What has been written so far, also by earlier attempts: whole files, and the beginning of one. */
export type Written = Readonly<{
  files: number;
  chunksOfFile: number;
  filesWithoutChunks: readonly number[];
  chunks: number;
  tokens: number;
}>;

/**
 * Writes the chunks of one ingestion to their stream in batches, and continues where an earlier attempt stopped. The same files
 * yield the same chunks, so stored chunks are neither stored nor embedded again.
 */
export class ChunkWriter {
  private revision: ExpectedRevision = 'none';
  private written: Written = { files: 0, chunksOfFile: 0, filesWithoutChunks: [], chunks: 0, tokens: 0 };

  private constructor(
    private readonly streams: Streams,
    private readonly embeddings: Embeddings | undefined,
    private readonly ids: Readonly<{ chunksId: string; sourceId: string }>,
    private readonly cause: Cause,
  ) {}

  static async open(
    parts: Readonly<{ store: EventStore; streams: Streams; embeddings: Embeddings | undefined }>,
    ids: Readonly<{ chunksId: string; sourceId: string }>,
    cause: Cause,
  ): Promise<ChunkWriter> {
    const writer = new ChunkWriter(parts.streams, parts.embeddings, ids, cause);
    for await (const page of parts.store.read(chunksStream(ids.chunksId), { direction: 'forwards' })) {
      for (const stored of page) {
        const event = decode<ChunksEvent>(chunksCodec, stored);
        if (event?.type === 'SourceChunksIngested') writer.note(event.data, stored.revision);
      }
    }
    return writer;
  }

  get soFar(): Written {
    return this.written;
  }

  /** Writes the missing chunks of a file. The caller passes each file once, in order. */
  async write(file: number, filename: string, chunks: readonly Chunk[], signal: AbortSignal): Promise<void> {
    const missing = chunks.slice(this.written.chunksOfFile);
    const batches = inBatches(missing, this.embeddings ? BATCH_VECTORS_MAX : Infinity);
    for (const [index, batch] of batches.entries()) {
      signal.throwIfAborted();
      await this.append(file, index === batches.length - 1, await this.ingested(filename, batch, signal));
    }
  }

  private async ingested(filename: string, batch: readonly Chunk[], signal: AbortSignal): Promise<readonly IngestedChunk[]> {
    const vectors = await this.embeddings?.embed(
      batch.map(({ title, text }) => `${title}\n\n${text}`),
      signal,
    );
    return batch.map((chunk, index) => {
      const vector = vectors?.[index];
      return { ...chunk, filename, ...(vector && { embedding: encodeEmbedding(vector) }) };
    });
  }

  private async append(file: number, isLastOfFile: boolean, chunks: readonly IngestedChunk[]): Promise<void> {
    const embeddingModel = this.embeddings?.model ?? null;
    const data = { ...this.ids, file, isLastOfFile, firstOrdinal: this.written.chunks, embeddingModel, chunks };
    const events: SourceChunksIngested[] = [{ type: 'SourceChunksIngested', data }];
    const { revision } = await this.streams.append(
      chunksStream(this.ids.chunksId),
      this.revision,
      chunksCodec,
      events,
      this.cause,
    );
    this.note(data, revision);
  }

  private note({ file, isLastOfFile, chunks }: SourceChunksIngested['data'], revision: number): void {
    const { written } = this;
    const isWithoutChunks = isLastOfFile && written.chunksOfFile + chunks.length === 0;
    this.revision = revision;
    this.written = {
      files: isLastOfFile ? file + 1 : file,
      chunksOfFile: isLastOfFile ? 0 : written.chunksOfFile + chunks.length,
      filesWithoutChunks: isWithoutChunks ? [...written.filesWithoutChunks, file] : written.filesWithoutChunks,
      chunks: written.chunks + chunks.length,
      tokens: written.tokens + chunks.reduce((sum, { tokens }) => sum + tokens, 0),
    };
  }
}

/** Returns at least one batch. An empty batch records that a file without text is done. */
function inBatches(chunks: readonly Chunk[], chunksMax: number): readonly (readonly Chunk[])[] {
  const batches: Chunk[][] = [[]];
  let bytes = 0;
  for (const chunk of chunks) {
    const more = Buffer.byteLength(JSON.stringify(chunk));
    const batch = batches.at(-1)!;
    if (batch.length > 0 && (bytes + more > BATCH_BYTES_MAX || batch.length >= chunksMax)) {
      batches.push([chunk]);
      bytes = more;
    } else {
      batch.push(chunk);
      bytes += more;
    }
  }
  return batches;
}
