import type { ScheduleTiming } from '../../src/triggers/schedules/schedule/schedule.events.js';
import { Queries } from '../read-models.js';
import type { ScheduleRunStatus } from './schedules.queries.js';

/** A period, including `from` and excluding `until`. */
export type Interval = Readonly<{ from: Date; until: Date }>;

/** A schedule that may have slots or runs in a period. */
export type PlannableSchedule = Readonly<{
  id: string;
  agentId: string | null;
  title: string;
  status: 'active' | 'paused' | 'completed' | 'cancelled';
  timing: ScheduleTiming;
  /** The first slot that is not decided yet, null if the schedule has none. */
  nextSlotAt: Date | null;
  markedSince: Date;
  /** The number of its runs in the period, at most the limit that the caller gave. */
  runs: number;
}>;

/** The outcome of a slot or of a manual run, as a calendar shows it. */
export type LedgerMark = Readonly<{
  scheduleId: string;
  runId: string;
  status: ScheduleRunStatus;
  /** In milliseconds since 1970. For thousands of rows, creating `Date` objects takes longer than all the rest. */
  at: number;
  errorType: string | null;
}>;

/** The outcomes of the slots in one stretch of time, counted by status. */
export type LedgerSum = Readonly<{
  scheduleId: string;
  /** The index of the stretch, from 0. */
  stretch: number;
  status: ScheduleRunStatus;
  count: number;
  first: Date;
  last: Date;
}>;

/** The schedule whose ledger is read. `until`: the first slot that the caller computes itself. Null: the whole ledger is read. */
export type LedgerRequest = Readonly<{ id: string; until: Date | null }>;

/** The statuses of runs that are always shown one by one and never summed. */
const SHOWN_APART: readonly ScheduleRunStatus[] = ['pending', 'running', 'failed', 'timeout'];

/**
 * Schedules and their ledgers for a calendar. Missed slots are shown only within the period `missed`, and only those of active
 * schedules since the last change of their time.
 */
export class ScheduleActivityQueries extends Queries {
  /** A user's schedules that may have slots or runs in a window, oldest first. */
  async plannable(ownerId: string, window: Interval, missed: Interval, countMax: number): Promise<readonly PlannableSchedule[]> {
    const { sql } = this;
    const rows = await sql<PlannableRow[]>`
      select schedule_id as id, agent_id as "agentId", ${this.title} as title, status, next_slot_at as "nextSlotAt",
        marked_since as "markedSince", seen.runs, cron, run_at as "runAt", timezone, end_at as "endAt"
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

  /**
   * The newest entries of each ledger in a window, at most `perScheduleMax` of each. With `apart`, only those that are never
   * summed.
   */
  async ledgers(
    asked: readonly LedgerRequest[],
    window: Interval,
    missed: Interval,
    { perScheduleMax, apart }: Readonly<{ perScheduleMax: number; apart: boolean }>,
  ): Promise<readonly LedgerMark[]> {
    if (asked.length === 0) return [];
    const { sql } = this;
    return sql<LedgerMark[]>`
      select marks.* from ${this.asked(asked)} join schedules.schedule using (schedule_id)
      cross join lateral (
        select schedule_id as "scheduleId", run_id as "runId", status, error_type as "errorType",
          round(extract(epoch from scheduled_for)::float8 * 1000) as at
        from schedules.run
        where run.schedule_id = schedule.schedule_id and ${this.isWithin(window)} and ${this.isShown(missed)}
          ${apart ? sql`and run.status = any (${SHOWN_APART as ScheduleRunStatus[]}::text[])` : sql``}
        order by scheduled_for desc, run_id limit ${perScheduleMax}
      ) marks`;
  }

  /** The entries of ledgers that may be summed, counted by the stretches that begin at `starts`. */
  async sums(
    asked: readonly LedgerRequest[],
    starts: readonly Date[],
    until: Date,
    missed: Interval,
  ): Promise<readonly LedgerSum[]> {
    if (asked.length === 0) return [];
    const { sql } = this;
    const thresholds = starts.map((start) => start.toISOString());
    return sql<LedgerSum[]>`
      select schedule_id as "scheduleId", width_bucket(scheduled_for, ${thresholds}::timestamptz[]) - 1 as stretch, run.status,
        count(*)::integer as count, min(scheduled_for) as first, max(scheduled_for) as last
      from ${this.asked(asked)} join schedules.schedule using (schedule_id) join schedules.run using (schedule_id)
      where ${this.isWithin({ from: starts[0]!, until })} and ${this.isShown(missed)}
        and run.status <> all (${SHOWN_APART as ScheduleRunStatus[]}::text[])
      group by schedule_id, stretch, run.status`;
  }

  private asked(asked: readonly LedgerRequest[]) {
    const ids = asked.map(({ id }) => id);
    const ends = asked.map(({ until }) => until?.toISOString() ?? null);
    return this.sql`unnest(${ids}::text[], ${ends}::timestamptz[]) as asked (schedule_id, decided_until)`;
  }

  private isWithin({ from, until }: Interval) {
    return this.sql`scheduled_for >= ${from} and scheduled_for < ${until}
      and (decided_until is null or scheduled_for < decided_until or trigger_source = 'manual')`;
  }

  private isShown({ from, until }: Interval) {
    return this.sql`(run.status not in ('paused', 'missed') or (run.status = 'missed' and schedule.status = 'active'
      and scheduled_for >= greatest(marked_since, ${from}) and scheduled_for < ${until}))`;
  }

  /** The name of a schedule, or else the beginning of its instruction. */
  private get title() {
    return this.sql`coalesce(name, left(split_part(btrim(instruction, E' \t\r\n'), E'\n', 1), 80))`;
  }
}

/** `runAt` is set for a one-time schedule, and `cron` for a recurring one. */
type PlannableRow = Omit<PlannableSchedule, 'timing'> &
  Readonly<{ cron: string; runAt: Date | null; timezone: string; endAt: Date | null }>;

const asPlannable = ({ cron, runAt, timezone, endAt, ...schedule }: PlannableRow): PlannableSchedule => ({
  ...schedule,
  timing: runAt
    ? { kind: 'once', runAt: runAt.toISOString(), timezone }
    : { kind: 'recurring', cron, timezone, endAt: endAt?.toISOString() ?? null },
});
