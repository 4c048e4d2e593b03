import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { type DueMonitor, MonitorQueries } from '../../../../projections/monitors/monitors.queries.js';
import { Ids } from '../../../kernel/ids.js';
import { causeOfTick, type Ticker } from '../../../kernel/event-sourcing/ticker.js';
import { CheckMonitor } from './check-monitor.js';

/** Interval between two polls for due monitors. */
const EVERY_MS = 1_000;
/** Maximum number of concurrent checks in one process. A slow check occupies only its own place. */
export const CHECKS_AT_ONCE_MAX = 16;
const MONITORS_PER_TICK_MAX = 500;

/**
 * Checks or ends the monitors that are due. The read model only lists candidates: the first process that claims a check performs
 * it. A tick does not wait for its checks, so that a slow source does not delay others. Shutdown aborts the checks in progress,
 * and another process repeats them after their claims have expired.
 */
@Injectable()
export class CheckMonitors implements Ticker, BeforeApplicationShutdown {
  readonly name = 'check-monitors';
  readonly everyMs = EVERY_MS;
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly logger = new Logger(CheckMonitors.name);
  /** The last monitor that was begun; undefined after all that are due. */
  private after: DueMonitor | undefined;

  constructor(
    private readonly monitors: MonitorQueries,
    private readonly checks: CheckMonitor,
    private readonly ids: Ids,
  ) {}

  /** Continues where the last tick stopped, so that monitors that stay due do not keep the others from being checked. */
  async tick(now: Date): Promise<void> {
    for (let checked = 0; checked < MONITORS_PER_TICK_MAX && this.hasRoom; checked += CHECKS_AT_ONCE_MAX) {
      const page = await this.monitors.due(now, CHECKS_AT_ONCE_MAX, this.after);
      for (const due of page) {
        if (!this.hasRoom) return;
        this.begin(due.monitorId);
        this.after = due;
      }
      if (page.length < CHECKS_AT_ONCE_MAX) return void (this.after = undefined);
    }
  }

  /** Resolves when no check is in progress. */
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

  private begin(monitorId: string): void {
    if (this.underWay.has(monitorId) || this.stopping.signal.aborted) return;
    const cause = causeOfTick(this, this.ids.next());
    const check = this.checks
      .check(monitorId, cause, this.stopping.signal)
      .catch((error: unknown) => {
        if (this.stopping.signal.aborted) return;
        this.logger.error(`Monitor ${monitorId} could not be checked. The check is repeated after its claim has expired.`, error);
      })
      .finally(() => this.underWay.delete(monitorId));
    this.underWay.set(monitorId, check);
  }
}
