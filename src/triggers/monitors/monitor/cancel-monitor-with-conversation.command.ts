import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { cancelWithConversation, monitor } from './monitor.decider.js';
import { type MonitorId, monitorStream } from './monitor.events.js';

/** The conversation that a monitor was to wake is gone. */
export class CancelMonitorWithConversation extends Command<void> {
  constructor(
    readonly monitorId: MonitorId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CancelMonitorWithConversation)
export class CancelMonitorWithConversationHandler implements ICommandHandler<CancelMonitorWithConversation> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ monitorId, cause }: CancelMonitorWithConversation): Promise<void> {
    const decision = cancelWithConversation(this.clock.now());
    await this.streams.transact(monitorStream(monitorId), monitor, decision, cause);
  }
}
