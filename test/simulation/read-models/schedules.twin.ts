import { changeIn, removeFrom } from '../../../projections/projection.js';
import { schedules } from '../../../projections/schedules/schedules.projection.js';
import { type DueSchedule, ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import type { ScheduleEvent } from '../../../src/triggers/schedules/schedule/schedule.events.js';
import type { ScheduledRunEvent } from '../../../src/triggers/schedules/runs/scheduled-run.events.js';
import { compared, TwinTables } from './twin-tables.js';

/** The queries of tickers for schedules, in memory. */
export class SchedulesTwin extends ScheduleQueries {
  readonly tables = new TwinTables<ScheduleEvent | ScheduledRunEvent, 'schedule' | 'run'>(
    schedules,
    {
      schedule: { key: 'schedule_id', times: ['next_slot_at', 'open_run_since'], defaults: { open_run_since: null } },
      run: { key: 'run_id', times: ['scheduled_for', 'started_at'] },
    },
    {
      ScheduleDeleted: ({ data: { scheduleId } }, tables) => {
        for (const run of tables.all('run')) {
          if (run['schedule_id'] === scheduleId) tables.change(removeFrom('run', { run_id: run['run_id'] }));
        }
        tables.change(removeFrom('schedule', { schedule_id: scheduleId }));
      },
      ScheduledRunStarted: ({ data: { runId, startedAt } }, tables) => {
        const run = tables.all('run').find((row) => row['run_id'] === runId);
        const status = run?.['status'] === 'pending' ? 'running' : run?.['status'];
        tables.change(changeIn('run', { run_id: runId }, { started_at: startedAt, status, updated_at: startedAt }));
      },
    },
  );

  constructor() {
    super(undefined as never);
  }

  override async due(now: Date, limit: number, after?: DueSchedule): Promise<readonly DueSchedule[]> {
    const due = this.tables.all('schedule').flatMap((row) => {
      const nextSlotAt = row['next_slot_at'] as Date | null;
      const isLeft = row['status'] === 'paused' && row['trigger_type'] === 'recurring';
      return nextSlotAt !== null && nextSlotAt <= now && !isLeft
        ? [{ scheduleId: row['schedule_id'] as string, nextSlotAt }]
        : [];
    });
    const place = ({ nextSlotAt, scheduleId }: DueSchedule) => [nextSlotAt, scheduleId];
    due.sort((one, other) => compared(place(one), place(other)));
    return due.filter((each) => !after || compared(place(each), place(after)) > 0).slice(0, limit);
  }

  override async runningSince(before: Date, limit: number): Promise<readonly string[]> {
    const running = this.tables.all('schedule').flatMap((row) => {
      const since = row['open_run_since'] as Date | null;
      return since !== null && since < before ? [{ id: row['schedule_id'] as string, since }] : [];
    });
    running.sort((one, other) => compared([one.since], [other.since]));
    return running.slice(0, limit).map(({ id }) => id);
  }
}
