import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { expiredTraces, expireTraces } from './expired-traces.decider.js';
import { EXPIRED_TRACES_STREAM } from './expired-traces.events.js';

/** Records that the traces from before a time have expired. Returns the position of the event, if there is a new one. */
export class ExpireTracesBefore extends Command<bigint | undefined> {
  constructor(
    readonly before: Date,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ExpireTracesBefore)
export class ExpireTracesBeforeHandler implements Handler<ExpireTracesBefore> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ before, cause }: ExpireTracesBefore): Promise<bigint | undefined> {
    const decide = expireTraces(before, this.clock.now());
    const { events, position } = await this.streams.transact(EXPIRED_TRACES_STREAM, expiredTraces, decide, cause);
    return events.length > 0 ? position : undefined;
  }
}
