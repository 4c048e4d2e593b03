import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { newId } from '../../../kernel/ids.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { SourceConfig } from './source-config.policy.js';
import { source } from './source.decider.js';
import { sourceStream } from './source.events.js';
import { ingestAgain } from './sync.decider.js';

/** The ingestion, which may have been under way already, and how it is to be. */
type Again = Readonly<{ ingestId: string; config: SourceConfig; position: bigint | undefined }>;

/** Has a source ingested once more. */
export class IngestAgain extends Command<Again> {
  constructor(
    readonly sourceId: string,
    readonly ownerId: string,
    readonly which: 'of-pages' | 'of-any-kind',
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(IngestAgain)
export class IngestAgainHandler implements ICommandHandler<IngestAgain> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ownerId, which, cause }: IngestAgain): Promise<Again> {
    const ingestId = newId();
    const decide = ingestAgain(sourceId, ownerId, ingestId, which);
    const { state, position } = await this.streams.transact(sourceStream(sourceId), source, decide, cause);
    return { ingestId: state.ingest?.ingestId ?? ingestId, config: state.config, position };
  }
}
