import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { deleteSource, source } from './source.decider.js';
import { sourceStream } from './source.events.js';

/** Takes a source out of every search. */
export class DeleteSource extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly sourceId: string,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteSource)
export class DeleteSourceHandler implements ICommandHandler<DeleteSource> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ownerId, cause }: DeleteSource): Promise<{ position: bigint | undefined }> {
    const { position } = await this.streams.transact(sourceStream(sourceId), source, deleteSource(sourceId, ownerId), cause);
    return { position };
  }
}
