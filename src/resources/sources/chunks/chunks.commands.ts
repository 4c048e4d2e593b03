import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import { lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { chunksCodec } from '../source/source.codec.js';
import { chunksStream, type SourceChunksForgotten } from '../source/source.events.js';

/** Chunks are forgotten, also those of which nothing is written yet; forgotten ones are forgotten once. */
export class ForgetSourceChunks extends Command {
  constructor(
    readonly chunksId: string,
    readonly sourceId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

/** Chunks are too large to be folded for a decision: the type of their newest event says all that counts. */
@CommandHandler(ForgetSourceChunks)
export class ForgetSourceChunksHandler implements Handler<ForgetSourceChunks> {
  constructor(private readonly streams: Streams) {}

  async execute({ chunksId, sourceId, cause }: ForgetSourceChunks): Promise<void> {
    const stream = chunksStream(chunksId);
    await this.streams.race(stream, async () => {
      const last = await lastEvent(this.streams.store, stream);
      if (last?.type === ('SourceChunksForgotten' satisfies SourceChunksForgotten['type'])) return;
      const forgotten: SourceChunksForgotten = { type: 'SourceChunksForgotten', data: { chunksId, sourceId } };
      await this.streams.append(stream, last?.revision ?? 'none', chunksCodec, [forgotten], cause);
    });
  }
}
