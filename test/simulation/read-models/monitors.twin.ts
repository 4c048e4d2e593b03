import { monitors } from '../../../projections/monitors/monitors.projection.js';
import { type DueMonitor, MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { changeIn } from '../../../projections/projection.js';
import type { MonitorEvent } from '../../../src/triggers/monitors/monitor/monitor.events.js';
import { compared, TwinTables } from './twin-tables.js';

/** The queries of tickers for monitors, in memory. */
export class MonitorsTwin extends MonitorQueries {
  readonly tables = new TwinTables<MonitorEvent, 'monitor'>(
    monitors,
    { monitor: { key: 'monitor_id', times: ['due_at', 'expires_at'] } },
    {
      MonitorPaused: ({ data: { monitorId, reason } }, tables) => {
        const paused = tables.all('monitor').find((row) => row['monitor_id'] === monitorId);
        const values = { status: 'paused', paused_reason: reason, due_at: paused?.['expires_at'] };
        tables.change(changeIn('monitor', { monitor_id: monitorId }, values));
      },
    },
  );

  constructor() {
    super(undefined as never);
  }

  override async due(now: Date, limit: number, after?: DueMonitor): Promise<readonly DueMonitor[]> {
    const due = this.tables.all('monitor').flatMap((row) => {
      const dueAt = row['due_at'] as Date | null;
      return dueAt !== null && dueAt <= now ? [{ monitorId: row['monitor_id'] as string, dueAt }] : [];
    });
    const place = ({ dueAt, monitorId }: DueMonitor) => [dueAt, monitorId];
    due.sort((one, other) => compared(place(one), place(other)));
    return due.filter((each) => !after || compared(place(each), place(after)) > 0).slice(0, limit);
  }
}
