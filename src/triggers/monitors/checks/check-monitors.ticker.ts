import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { type DueMonitor, MonitorQueries } from '../../../../projections/monitors/monitors.queries.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Ids } from '../../../kernel/ids.js';
import { causeOfTick, type Ticker } from '../../../kernel/event-sourcing/ticker.js';
import { CheckMonitor } from './check-monitor.js';

/** How often somebody looks for monitors that are due. */
const EVERY_MS = 1_000;
/** Checks that are under way at once in one process; those that are slow keep only their own place. */
const CHECKS_AT_ONCE_MAX = 16;
const MONITORS_PER_TICK_MAX = 500;

/**
 * Checks monitors that are due, or ends them. The read model only says which: the first process that claims a check does it. A
 * tick ends before its checks do, so that a slow source holds up no other check. At the end of the process checks under way are
 * aborted, and another process repeats them once their claim has run out.
 */
@Injectable()
export class CheckMonitors implements Ticker, BeforeApplicationShutdown {
  readonly name = 'check-monitors';
  readonly everyMs = EVERY_MS;
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly logger = new Logger(CheckMonitors.name);

  constructor(
    private readonly monitors: MonitorQueries,
    private readonly checks: CheckMonitor,
    private readonly ids: Ids,
  ) {}

  async tick(now: Date): Promise<void> {
    const cause = causeOfTick(this, this.ids.next());
    let after: DueMonitor | undefined;
    for (let looked = 0; looked < MONITORS_PER_TICK_MAX && this.hasRoom; looked += CHECKS_AT_ONCE_MAX) {
      const page: readonly DueMonitor[] = await this.monitors.due(now, CHECKS_AT_ONCE_MAX, after);
      for (const { monitorId } of page) if (this.hasRoom) this.begin(monitorId, cause);
      after = page.at(-1);
      if (page.length < CHECKS_AT_ONCE_MAX) break;
    }
  }

  /** Resolves once nothing is under way. */
  async settled(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay.values());
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.settled();
  }

  private get hasRoom(): boolean {
    return this.underWay.size < CHECKS_AT_ONCE_MAX;
  }

  private begin(monitorId: string, cause: Cause): void {
    if (this.underWay.has(monitorId) || this.stopping.signal.aborted) return;
    const check = this.checks
      .check(monitorId, cause, this.stopping.signal)
      .catch((error: unknown) => {
        if (this.stopping.signal.aborted) return;
        this.logger.error(`Monitor ${monitorId} could not be checked; it is tried again once its claim has run out.`, error);
      })
      .finally(() => this.underWay.delete(monitorId));
    this.underWay.set(monitorId, check);
  }
}
