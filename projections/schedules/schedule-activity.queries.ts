import { Injectable } from '@nestjs/common';
import type { Row } from 'postgres';
import type { ScheduleTiming } from '../../src/triggers/schedules/schedule/schedule.events.js';
import { ReadModels } from '../read-models.js';
import type { ScheduleRunStatus } from './schedules.queries.js';

/** A time from its beginning up to, and without, its end. */
export type Interval = Readonly<{ from: Date; until: Date }>;

/** A schedule with something to show of a time, and how much of it has become of its slots already. */
export type PlannableSchedule = Readonly<{
  id: string;
  agentId: string | null;
  title: string;
  status: 'active' | 'paused' | 'completed' | 'cancelled';
  timing: ScheduleTiming;
  /** The first slot that is not decided yet. */
  nextSlotAt: Date | null;
  markedSince: Date;
  /** Counted up to the limit that was asked for. */
  runs: number;
}>;

/** What became of a slot, or a run that somebody asked for, as a calendar shows it. */
export type LedgerMark = Readonly<{
  scheduleId: string;
  runId: string;
  status: ScheduleRunStatus;
  /** In milliseconds: of thousands of rows, dates take longer than all the rest. */
  at: number;
  errorType: string | null;
}>;

/** What became of several slots, those of one stretch of time. */
export type LedgerSum = Readonly<{
  scheduleId: string;
  /** Which of the stretches, from 0. */
  stretch: number;
  status: ScheduleRunStatus;
  count: number;
  first: Date;
  last: Date;
}>;

/** Whose ledger is read, up to the slot from which on it is reckoned what comes; null: all of it. */
export type LedgerRequest = Readonly<{ id: string; until: Date | null }>;

/** Runs that are shown one by one whatever else is summed. */
const SHOWN_APART: readonly ScheduleRunStatus[] = ['pending', 'running', 'failed', 'timeout'];

/** How schedules stand in a calendar. A slot that was missed counts in `missed` alone, and of an active schedule since its time is what it is. */
@Injectable()
export class ScheduleActivityQueries {
  constructor(private readonly readModels: ReadModels) {}

  /** A user's schedules that may have slots or runs in a window, oldest first. */
  async plannable(ownerId: string, window: Interval, missed: Interval, countMax: number): Promise<readonly PlannableSchedule[]> {
    const { sql } = this.readModels;
    const rows = await sql`
      select schedule_id, agent_id, status, trigger_type, cron, run_at, timezone, end_at, next_slot_at, marked_since, seen.runs,
        ${this.title} as title
      from schedules.schedule
      cross join lateral (
        select count(*)::integer as runs from (
          select from schedules.run where run.schedule_id = schedule.schedule_id
            and scheduled_for >= ${window.from} and scheduled_for < ${window.until} and ${this.isShown(missed)}
          limit ${countMax}
        ) shown
      ) seen
      where owner_id = ${ownerId} and (schedule.status in ('active', 'paused') or seen.runs > 0)
      order by created_at, schedule_id`;
    return rows.map(asPlannable);
  }

  /** The newest of what there is to show of each ledger in a window, at most so many of each; with `apart` only what is never summed. */
  async ledgers(
    asked: readonly LedgerRequest[],
    window: Interval,
    missed: Interval,
    { perScheduleMax, apart }: Readonly<{ perScheduleMax: number; apart: boolean }>,
  ): Promise<readonly LedgerMark[]> {
    if (asked.length === 0) return [];
    const { sql } = this.readModels;
    const rows = await sql`
      select marks.* from ${this.asked(asked)} join schedules.schedule using (schedule_id)
      cross join lateral (
        select schedule_id, run_id, status, error_type, extract(epoch from scheduled_for)::float8 * 1000 as at from schedules.run
        where run.schedule_id = schedule.schedule_id and ${this.isWithin(window)} and ${this.isShown(missed)}
          ${apart ? sql`and run.status = any (${SHOWN_APART as ScheduleRunStatus[]}::text[])` : sql``}
        order by scheduled_for desc, run_id limit ${perScheduleMax}
      ) marks`;
    return rows.map(asMark);
  }

  /** What there is to show of ledgers but for what is never summed, by the stretches that begin at these times. */
  async sums(
    asked: readonly LedgerRequest[],
    starts: readonly Date[],
    until: Date,
    missed: Interval,
  ): Promise<readonly LedgerSum[]> {
    if (asked.length === 0) return [];
    const { sql } = this.readModels;
    const thresholds = starts.map((start) => start.toISOString());
    const rows = await sql`
      select schedule_id, width_bucket(scheduled_for, ${thresholds}::timestamptz[]) - 1 as stretch, run.status,
        count(*)::integer as count, min(scheduled_for) as first, max(scheduled_for) as last
      from ${this.asked(asked)} join schedules.schedule using (schedule_id) join schedules.run using (schedule_id)
      where ${this.isWithin({ from: starts[0]!, until })} and ${this.isShown(missed)}
        and run.status <> all (${SHOWN_APART as ScheduleRunStatus[]}::text[])
      group by schedule_id, stretch, run.status`;
    return rows.map((row) => ({
      scheduleId: row['schedule_id'] as string,
      stretch: row['stretch'] as number,
      status: row['status'] as ScheduleRunStatus,
      count: row['count'] as number,
      first: row['first'] as Date,
      last: row['last'] as Date,
    }));
  }

  private asked(asked: readonly LedgerRequest[]) {
    const ids = asked.map(({ id }) => id);
    const ends = asked.map(({ until }) => until?.toISOString() ?? null);
    return this.readModels.sql`unnest(${ids}::text[], ${ends}::timestamptz[]) as asked (schedule_id, decided_until)`;
  }

  private isWithin({ from, until }: Interval) {
    return this.readModels.sql`scheduled_for >= ${from} and scheduled_for < ${until}
      and (decided_until is null or scheduled_for < decided_until or trigger_source = 'manual')`;
  }

  private isShown({ from, until }: Interval) {
    return this.readModels.sql`(run.status not in ('paused', 'missed') or (run.status = 'missed' and schedule.status = 'active'
      and scheduled_for >= greatest(marked_since, ${from}) and scheduled_for < ${until}))`;
  }

  /** What a schedule is called; one without a name by how its instruction begins. */
  private get title() {
    return this.readModels.sql`coalesce(name, left(split_part(btrim(instruction, E' \t\r\n'), E'\n', 1), 80))`;
  }
}

const asPlannable = (row: Row): PlannableSchedule => ({
  id: row['schedule_id'] as string,
  agentId: row['agent_id'] as string | null,
  title: row['title'] as string,
  status: row['status'] as PlannableSchedule['status'],
  timing: timingOf(row),
  nextSlotAt: row['next_slot_at'] as Date | null,
  markedSince: row['marked_since'] as Date,
  runs: row['runs'] as number,
});

function timingOf(row: Row): ScheduleTiming {
  const timezone = row['timezone'] as string;
  if (row['trigger_type'] === 'once') return { kind: 'once', runAt: (row['run_at'] as Date).toISOString(), timezone };
  const endAt = row['end_at'] as Date | null;
  return { kind: 'recurring', cron: row['cron'] as string, timezone, endAt: endAt?.toISOString() ?? null };
}

const asMark = (row: Row): LedgerMark => ({
  scheduleId: row['schedule_id'] as string,
  runId: row['run_id'] as string,
  status: row['status'] as ScheduleRunStatus,
  at: Math.round(row['at'] as number),
  errorType: row['error_type'] as string | null,
});
