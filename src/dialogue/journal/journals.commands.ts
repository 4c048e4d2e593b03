import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { expireJournals, journals } from './journals.decider.js';
import { type Hour, journalsStream } from './journals.events.js';

/** Records the expiry of journals that were sealed in one hour. */
export class ExpireJournalsOf extends Command {
  constructor(
    readonly hour: Hour,
    readonly turnIds: readonly string[],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ExpireJournalsOf)
export class ExpireJournalsOfHandler implements Handler<ExpireJournalsOf> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ hour, turnIds, cause }: ExpireJournalsOf): Promise<void> {
    await this.streams.transact(journalsStream(hour), journals, expireJournals(hour, turnIds, this.clock.now()), cause);
  }
}
