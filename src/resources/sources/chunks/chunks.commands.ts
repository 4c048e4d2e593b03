import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import { lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { chunksCodec } from '../source/source.codec.js';
import { chunksStream, type SourceChunksPurged } from '../source/source.events.js';

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
