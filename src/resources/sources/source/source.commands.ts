import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { configureSource, needsIngestion } from './source-config.decider.js';
import type { GivenSourceConfig, SourceConfig } from './source-config.policy.js';
import {
  completeIngest,
  createSource,
  deleteSource,
  failIngest,
  keepPages,
  keepUnpackedFiles,
  type Pages,
  type Source,
  source,
  startIngest,
  type UnpackedFiles,
} from './source.decider.js';
import { type SourceCreated, type SourceFile, sourceStream } from './source.events.js';

/**
 * Creates a source from uploaded files and requests its ingestion. The caller chooses the ids, so the command can be repeated.
 */
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
class UploadSourceHandler implements Handler<UploadSource> {
  constructor(private readonly streams: Streams) {}

  async execute({ created, ingestId, files, cause }: UploadSource): Promise<{ position: bigint | undefined }> {
    const stream = sourceStream(created.sourceId);
    const { position } = await this.streams.transact(stream, source, createSource(created, ingestId, files), cause);
    return { position };
  }
}

/** The new config of a source, and whether its chunks do not match it until the next ingestion. */
type Configured = Readonly<{ config: SourceConfig; needsIngestion: boolean; position: bigint | undefined }>;

/** Replaces the config of a source. */
export class ConfigureSource extends Command<Configured> {
  constructor(
    readonly sourceId: string,
    readonly ownerId: string,
    readonly given: GivenSourceConfig,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ConfigureSource)
class ConfigureSourceHandler implements Handler<ConfigureSource> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ownerId, given, cause }: ConfigureSource): Promise<Configured> {
    const decide = configureSource(sourceId, ownerId, given);
    const { state, position } = await this.streams.transact(sourceStream(sourceId), source, decide, cause);
    return { config: state.config, needsIngestion: needsIngestion(state), position };
  }
}

/** Records the fetched pages of a source. */
export class KeepPages extends Command {
  constructor(
    readonly sourceId: string,
    readonly ingestId: string,
    readonly pages: Pages,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(KeepPages)
export class KeepPagesHandler implements Handler<KeepPages> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ingestId, pages, cause }: KeepPages): Promise<void> {
    await this.streams.transact(sourceStream(sourceId), source, keepPages(sourceId, ingestId, pages), cause);
  }
}

/** Records the files unpacked from the archives of an upload. */
export class KeepUnpackedFiles extends Command {
  constructor(
    readonly sourceId: string,
    readonly ingestId: string,
    readonly unpacked: UnpackedFiles,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(KeepUnpackedFiles)
export class KeepUnpackedFilesHandler implements Handler<KeepUnpackedFiles> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ingestId, unpacked, cause }: KeepUnpackedFiles): Promise<void> {
    await this.streams.transact(sourceStream(sourceId), source, keepUnpackedFiles(sourceId, ingestId, unpacked), cause);
  }
}

/** Records that chunks of a source are about to be written. */
export class StartIngest extends Command<Folded<Source>> {
  constructor(
    readonly sourceId: string,
    readonly ingestId: string,
    readonly chunksId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StartIngest)
export class StartIngestHandler implements Handler<StartIngest> {
  constructor(private readonly streams: Streams) {}

  execute({ sourceId, ingestId, chunksId, cause }: StartIngest): Promise<Folded<Source>> {
    return this.streams.transact(sourceStream(sourceId), source, startIngest(sourceId, ingestId, chunksId), cause);
  }
}

/** Records that all chunks of a source are written. From then on they are searched. */
export class CompleteIngest extends Command<Folded<Source>> {
  constructor(
    readonly sourceId: string,
    readonly ingestId: string,
    readonly chunksId: string,
    readonly totals: Readonly<{ chunks: number; tokens: number }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CompleteIngest)
export class CompleteIngestHandler implements Handler<CompleteIngest> {
  constructor(private readonly streams: Streams) {}

  execute({ sourceId, ingestId, chunksId, totals, cause }: CompleteIngest): Promise<Folded<Source>> {
    return this.streams.record(sourceStream(sourceId), source, completeIngest(sourceId, ingestId, chunksId, totals), cause);
  }
}

/** Records that an ingestion has failed and is not retried. */
export class FailIngest extends Command {
  constructor(
    readonly sourceId: string,
    readonly ingestId: string,
    readonly reason: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(FailIngest)
export class FailIngestHandler implements Handler<FailIngest> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ingestId, reason, cause }: FailIngest): Promise<void> {
    await this.streams.record(sourceStream(sourceId), source, failIngest(sourceId, ingestId, reason), cause);
  }
}

/** Deletes a source. It is not searched any more. */
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
class DeleteSourceHandler implements Handler<DeleteSource> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ownerId, cause }: DeleteSource): Promise<{ position: bigint | undefined }> {
    const { position } = await this.streams.transact(sourceStream(sourceId), source, deleteSource(sourceId, ownerId), cause);
    return { position };
  }
}

export const sourceHandlers = [
  CompleteIngestHandler,
  ConfigureSourceHandler,
  DeleteSourceHandler,
  FailIngestHandler,
  KeepPagesHandler,
  KeepUnpackedFilesHandler,
  StartIngestHandler,
  UploadSourceHandler,
];
