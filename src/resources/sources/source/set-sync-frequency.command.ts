import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { source } from './source.decider.js';
import { sourceStream } from './source.events.js';
import { setSyncFrequency } from './sync.decider.js';
import type { SyncFrequency } from './sync.policy.js';

/** Says how often the pages of a source are fetched anew. */
export class SetSyncFrequency extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly sourceId: string,
    readonly ownerId: string,
    readonly frequency: SyncFrequency,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(SetSyncFrequency)
export class SetSyncFrequencyHandler implements ICommandHandler<SetSyncFrequency> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ sourceId, ownerId, frequency, cause }: SetSyncFrequency): Promise<{ position: bigint | undefined }> {
    const decide = setSyncFrequency(sourceId, ownerId, frequency, this.clock.now());
    const { position } = await this.streams.transact(sourceStream(sourceId), source, decide, cause);
    return { position };
  }
}
