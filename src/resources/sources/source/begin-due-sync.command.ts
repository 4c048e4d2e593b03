import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { source } from './source.decider.js';
import { sourceStream } from './source.events.js';
import { fallDue } from './sync.decider.js';

/** A source's time to sync may have come. */
export class BeginDueSync extends Command<void> {
  constructor(
    readonly sourceId: string,
    /** As an ISO string, as the source says it. */
    readonly dueAt: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(BeginDueSync)
export class BeginDueSyncHandler implements ICommandHandler<BeginDueSync> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ sourceId, dueAt, cause }: BeginDueSync): Promise<void> {
    const decide = fallDue(sourceId, deterministicId('sync', sourceId, dueAt), dueAt, this.clock.now());
    await this.streams.transact(sourceStream(sourceId), source, decide, cause);
  }
}
