import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { MonitorQueries } from '../../projections/monitors/monitors.queries.js';
import { Clock } from '../kernel/clock.js';
import type { Cause } from '../kernel/events.js';
import { Streams } from '../kernel/streams.js';
import { admit, monitorAllowance, release } from './monitor-allowance.decider.js';
import { monitorAllowanceStream } from './monitor-allowance.events.js';
import type { MonitorId } from './monitor.events.js';
import { MonitorRules } from './monitor-rules.js';

/** A monitor takes a place among its owner's, or gives back the one of a monitor that came to nothing or is over. */
export class AdmitMonitor extends Command<void> {
  constructor(
    readonly ownerId: string,
    readonly monitorId: MonitorId,
    readonly cause: Cause,
    readonly wanted: 'place' | 'no-place' = 'place',
  ) {
    super();
  }
}

@CommandHandler(AdmitMonitor)
export class AdmitMonitorHandler implements ICommandHandler<AdmitMonitor> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: MonitorRules,
    private readonly monitors: MonitorQueries,
  ) {}

  async execute({ ownerId, monitorId, cause, wanted }: AdmitMonitor): Promise<void> {
    const admission = { ownerId, monitorId, now: this.clock.now(), max: this.rules.perUserMax };
    const decision =
      wanted === 'place' ? admit(admission, new Set(await this.monitors.liveOf(ownerId))) : release(ownerId, monitorId);
    await this.streams.transact(monitorAllowanceStream(ownerId), monitorAllowance, decision, cause);
  }
}
