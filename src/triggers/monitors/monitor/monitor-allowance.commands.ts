import { CommandHandler } from '@nestjs/cqrs';
import { MonitorQueries } from '../../../../projections/monitors/monitors.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { ADMISSION_MS, admit, monitorAllowance, release } from './monitor-allowance.decider.js';
import { monitorAllowanceStream } from './monitor-allowance.events.js';
import { MonitorRules } from './monitor-rules.js';
import type { MonitorId } from './monitor.events.js';

/**
 * Reserves a place for a monitor within its owner's limit, or releases the place of a monitor that was not created or has ended.
 */
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
export class AdmitMonitorHandler implements Handler<AdmitMonitor> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: MonitorRules,
    private readonly monitors: MonitorQueries,
  ) {}

  async execute({ ownerId, monitorId, cause, wanted }: AdmitMonitor): Promise<void> {
    const decision = wanted === 'place' ? await this.admission(ownerId, monitorId) : release(ownerId, monitorId);
    await this.streams.transact(monitorAllowanceStream(ownerId), monitorAllowance, decision, cause);
  }

  private async admission(ownerId: string, monitorId: MonitorId) {
    const now = this.clock.now();
    const [live, over] = await Promise.all([
      this.monitors.liveOf(ownerId),
      this.monitors.overOf(ownerId, new Date(now.getTime() - 2 * ADMISSION_MS)),
    ]);
    const known = { live: new Set(live), over: new Set(over) };
    return admit({ ownerId, monitorId, now, max: this.rules.perUserMax }, known);
  }
}
