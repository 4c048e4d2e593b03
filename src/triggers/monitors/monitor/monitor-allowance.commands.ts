import { CommandHandler } from '@nestjs/cqrs';
import { MonitorQueries } from '../../../../projections/monitors/monitors.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../../kernel/event-sourcing/freshness.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import {
  ADMISSION_MS,
  admit,
  admitToUnusedPlace,
  type KnownMonitors,
  type MonitorAllowance,
  monitorAllowance,
  release,
} from './monitor-allowance.decider.js';
import { type MonitorAllowanceEvent, monitorAllowanceStream } from './monitor-allowance.events.js';
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
    private readonly freshness: Freshness,
    private readonly store: EventStore,
  ) {}

  /**
   * A place that was taken is free again once the read model shows that its monitor has ended or does not exist. A read model that
   * is behind does not show it. @throws Rejection too-many-monitors; ReadModelsBehind
   */
  async execute({ ownerId, monitorId, cause, wanted }: AdmitMonitor): Promise<void> {
    const decide = (decision: Decision<MonitorAllowance, MonitorAllowanceEvent>) =>
      this.streams.transact(monitorAllowanceStream(ownerId), monitorAllowance, decision, cause);
    const admission = { ownerId, monitorId, now: this.clock.now(), max: this.rules.perUserMax };
    const { state } = await decide(wanted === 'place' ? admitToUnusedPlace(admission) : release(ownerId, monitorId));
    if (wanted === 'no-place' || monitorId in state) return;
    await requireReached(this.freshness, ['monitors'], await this.store.head());
    await decide(admit(admission, await this.knownOf(ownerId, admission.now)));
  }

  private async knownOf(ownerId: string, now: Date): Promise<KnownMonitors> {
    const [live, over] = await Promise.all([
      this.monitors.liveOf(ownerId),
      this.monitors.overOf(ownerId, new Date(now.getTime() - 2 * ADMISSION_MS)),
    ]);
    return { live: new Set(live), over: new Set(over) };
  }
}
