import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import { decode } from '../../../kernel/event-sourcing/codec.js';
import { type EventStore, lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { chunksCodec } from '../source/source.codec.js';
import {
  type ChunkEdit,
  type ChunksEvent,
  chunksStream,
  type IngestedChunk,
  type SourceChunksPurged,
} from '../source/source.events.js';
import { chunkNotFound } from './chunk-id.policy.js';

/** Purges chunks, even if none of them is written yet. Does nothing if they are already purged. */
export class PurgeSourceChunks extends Command {
  constructor(
    readonly chunksId: string,
    readonly sourceId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

/** Reads only the newest event, because a stream of chunks is too large to fold. Its type is enough for the decision. */
@CommandHandler(PurgeSourceChunks)
export class PurgeSourceChunksHandler implements Handler<PurgeSourceChunks> {
  constructor(private readonly streams: Streams) {}

  async execute({ chunksId, sourceId, cause }: PurgeSourceChunks): Promise<void> {
    const stream = chunksStream(chunksId);
    await this.streams.race(stream, async () => {
      const last = await lastEvent(this.streams.store, stream);
      if (last?.type === ('SourceChunksPurged' satisfies SourceChunksPurged['type'])) return;
      const purged: SourceChunksPurged = { type: 'SourceChunksPurged', data: { chunksId, sourceId } };
      await this.streams.append(stream, last?.revision ?? 'none', chunksCodec, [purged], cause);
    });
  }
}

/** A chunk, with its vector if embeddings are configured. */
export type WrittenChunk = Readonly<{ chunk: IngestedChunk; embeddingModel: string | null }>;

/** An owner's edit of the chunks that are searched. */
export type WantedEdit =
  | Readonly<{ kind: 'add'; written: WrittenChunk }>
  | Readonly<{ kind: 'change'; ordinal: number; written: WrittenChunk }>
  | Readonly<{ kind: 'remove'; ordinal: number }>;

/** Edits a chunk and resolves to its ordinal. @throws Rejection chunk-not-found if the chunks are purged */
export class EditChunk extends Command<Readonly<{ ordinal: number; position: bigint }>> {
  constructor(
    readonly chunksId: string,
    readonly sourceId: string,
    readonly edit: WantedEdit,
    readonly cause: Cause,
  ) {
    super();
  }
}

/**
 * Reads only the newest events, because a stream of chunks is too large to fold. They show the next free ordinal, or the purge.
 */
@CommandHandler(EditChunk)
export class EditChunkHandler implements Handler<EditChunk> {
  constructor(private readonly streams: Streams) {}

  async execute({ chunksId, sourceId, edit, cause }: EditChunk) {
    const stream = chunksStream(chunksId);
    return this.streams.race(stream, async () => {
      const { ordinal: free, revision } = await newestOf(this.streams.store, stream);
      const ordinal = edit.kind === 'add' ? free : edit.ordinal;
      const event = eventOf(edit, { chunksId, sourceId, ordinal });
      const { position } = await this.streams.append(stream, revision, chunksCodec, [event], cause);
      return { ordinal, position };
    });
  }
}

function eventOf(edit: WantedEdit, place: Readonly<{ chunksId: string; sourceId: string; ordinal: number }>): ChunkEdit {
  if (edit.kind === 'remove') return { type: 'SourceChunkRemoved', data: place };
  const type = edit.kind === 'add' ? 'SourceChunkAdded' : 'SourceChunkChanged';
  return { type, data: { ...place, ...edit.written } };
}

/** The revision of the newest event, and the first ordinal that was never used. @throws Rejection chunk-not-found */
async function newestOf(store: EventStore, stream: string): Promise<Readonly<{ ordinal: number; revision: number }>> {
  let newest: number | undefined;
  for await (const page of store.read(stream, { direction: 'backwards' })) {
    for (const stored of page) {
      newest ??= stored.revision;
      const event = decode<ChunksEvent>(chunksCodec, stored);
      if (event?.type === 'SourceChunksPurged') throw chunkNotFound();
      if (event?.type === 'SourceChunkAdded') return { ordinal: event.data.ordinal + 1, revision: newest };
      if (event?.type === 'SourceChunksIngested')
        return { ordinal: event.data.firstOrdinal + event.data.chunks.length, revision: newest };
    }
  }
  throw chunkNotFound();
}
