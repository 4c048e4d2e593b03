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

/** Chunks are purged, also those of which nothing is written yet; purged ones are purged once. */
export class PurgeSourceChunks extends Command {
  constructor(
    readonly chunksId: string,
    readonly sourceId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

/** Chunks are too large to be folded for a decision: the type of their newest event says all that counts. */
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

/** A chunk with its vector, where there are embeddings. */
export type WrittenChunk = Readonly<{ chunk: IngestedChunk; embeddingModel: string | null }>;

/** What an owner does to the chunks that are searched: one is added, one is rewritten, or one is taken out. */
export type WantedEdit =
  | Readonly<{ kind: 'add'; written: WrittenChunk }>
  | Readonly<{ kind: 'change'; ordinal: number; written: WrittenChunk }>
  | Readonly<{ kind: 'remove'; ordinal: number }>;

/** The owner edits chunks. Resolves to the ordinal of the chunk. @throws Rejection chunk-not-found where they are purged */
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

/** Chunks are too large to be folded: the newest events say whether they are there, and which ordinal is free. */
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

/** The revision of the newest event, and the ordinal behind all that were ever given. */
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
