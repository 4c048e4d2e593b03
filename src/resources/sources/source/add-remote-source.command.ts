import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { source } from './source.decider.js';
import { type SourceCreated, sourceStream } from './source.events.js';
import { addRemoteSource } from './sync.decider.js';
import type { SyncFrequency } from './sync.policy.js';

/** Pages become a source and are fetched and ingested. The ids are chosen before, so it may be sent again. */
export class AddRemoteSource extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly created: SourceCreated['data'],
    readonly ingestId: string,
    readonly frequency: SyncFrequency,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AddRemoteSource)
export class AddRemoteSourceHandler implements ICommandHandler<AddRemoteSource> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ created, ingestId, frequency, cause }: AddRemoteSource): Promise<{ position: bigint | undefined }> {
    const decide = addRemoteSource(created, ingestId, frequency, this.clock.now());
    const { position } = await this.streams.transact(sourceStream(created.sourceId), source, decide, cause);
    return { position };
  }
}
