import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { source, createSource } from './source.decider.js';
import { type SourceCreated, type SourceFile, sourceStream } from './source.events.js';

/** Keeps uploaded files as a source and has them ingested. The ids are chosen before, so it may be sent again. */
export class UploadSource extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly created: SourceCreated['data'],
    readonly ingestId: string,
    readonly files: readonly SourceFile[],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(UploadSource)
export class UploadSourceHandler implements ICommandHandler<UploadSource> {
  constructor(private readonly streams: Streams) {}

  async execute({ created, ingestId, files, cause }: UploadSource): Promise<{ position: bigint | undefined }> {
    const stream = sourceStream(created.sourceId);
    const { position } = await this.streams.transact(stream, source, createSource(created, ingestId, files), cause);
    return { position };
  }
}
