import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { nextCheckAt } from './check-times.policy.js';
import { create, monitor } from './monitor.decider.js';
import { type MonitorCreated, monitorStream } from './monitor.events.js';

/** Somebody wants to be told. Whether there is a place for it was asked before. */
export class CreateMonitor extends Command<bigint | undefined> {
  constructor(
    readonly monitor: Omit<MonitorCreated['data'], 'createdAt' | 'nextCheckAt'>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateMonitor)
export class CreateMonitorHandler implements ICommandHandler<CreateMonitor> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ monitor: { monitorId, ...more }, cause }: CreateMonitor): Promise<bigint | undefined> {
    const now = this.clock.now();
    const times = {
      createdAt: now.toISOString(),
      nextCheckAt: nextCheckAt({ monitorId, checkNumber: 1, ...more.terms }, now),
    };
    const decision = create({ monitorId, ...more, ...times });
    return (await this.streams.transact(monitorStream(monitorId), monitor, decision, cause)).position;
  }
}
