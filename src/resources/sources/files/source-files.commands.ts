import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { source } from '../source/source.decider.js';
import { sourceStream } from '../source/source.events.js';
import { changeFiles, type FileChange } from './source-files.decider.js';

/** Adds files to a source or removes some, and requests a new ingestion. */
export class ChangeSourceFiles extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly sourceId: string,
    readonly ownerId: string,
    readonly ingestId: string,
    readonly change: FileChange,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeSourceFiles)
export class ChangeSourceFilesHandler implements Handler<ChangeSourceFiles> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ownerId, ingestId, change, cause }: ChangeSourceFiles): Promise<{ position: bigint | undefined }> {
    const decide = changeFiles(sourceId, ownerId, ingestId, change);
    const { position } = await this.streams.transact(sourceStream(sourceId), source, decide, cause);
    return { position };
  }
}
