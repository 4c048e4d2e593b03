import { Injectable } from '@nestjs/common';
import { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { type PlannableSchedule, ScheduleActivityQueries } from '../../../projections/schedules/schedule-activity.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { SchedulerHeartbeat } from '../../triggers/schedules/scheduler-heartbeat.port.js';
import { ActivityRules } from './activity-rules.js';
import { clockPieces } from './clock-pieces.policy.js';
import { type SyncEventRecord, syncEvents } from './coming-syncs.policy.js';
import { monitorRecord } from './current-records.js';
import { forecastOf, type ForecastRules, isFrequentTiming, type Span } from './forecast.policy.js';
import {
  EVENTS_PER_SCHEDULE_MAX,
  EVENTS_PER_SCHEDULE_UNSUMMED_MAX,
  plannedEvents,
  type PlannedSchedules,
} from './planned-events.js';
import type { PlannedWindow } from './planned-window.policy.js';

/**
 * The calendar of a user. Decided slots of schedules come from their ledgers, undecided slots from their timings. No slot comes
 * from both.
 */
@Injectable()
export class PlannedActivity {
  constructor(
    private readonly schedules: ScheduleActivityQueries,
    private readonly sources: SourceQueries,
    private readonly monitors: MonitorQueries,
    private readonly scheduler: SchedulerHeartbeat,
    private readonly rules: ActivityRules,
  ) {}

  async of(ownerId: string, window: PlannedWindow, now: Date) {
    const [{ events, truncated }, syncs, monitors] = await Promise.all([
      this.ofSchedules(ownerId, window, now.getTime()),
      this.syncs(ownerId, window, now),
      this.monitors.activeOf(ownerId),
    ]);
    const all = syncs.length === 0 ? events : [...events, ...syncs].sort(inTime);
    return { events: all, monitors: monitors.map(monitorRecord), truncated };
  }

  /** No coming syncs are shown while the scheduler is stopped or far behind. */
  private async syncs(ownerId: string, window: PlannedWindow, now: Date): Promise<readonly SyncEventRecord[]> {
    if (!(await this.scheduler.isKeepingUp(now))) return [];
    return syncEvents(await this.sources.syncsOf(ownerId), window, now.getTime());
  }

  private async ofSchedules(ownerId: string, window: PlannedWindow, now: number): Promise<PlannedSchedules> {
    const { missedAfterMs, scheduleRunRetentionMs } = this.rules;
    const missed = { from: now - scheduleRunRetentionMs, until: now - missedAfterMs + 1 };
    const found = await this.schedules.plannable(ownerId, datesOf(window), datesOf(missed), EVENTS_PER_SCHEDULE_UNSUMMED_MAX + 1);
    const pieces = piecesWithin(window);
    const forecasts = found.map((schedule) => {
      const forecast = forecastOf(schedule, { now, window, missed, pieces });
      const count = forecast.reduce((sum, stretch) => sum + stretch.count, schedule.runs);
      const isSummed = count > EVENTS_PER_SCHEDULE_UNSUMMED_MAX && isFrequentTiming(schedule.timing);
      return { schedule, forecast, isSummed };
    });
    const withRuns = forecasts.filter(({ schedule }) => schedule.runs > 0);
    const ledgers = await this.ledgersOf(withRuns, window, missed);
    const whole = forecasts.map((each) => ({
      ...each,
      marks: ledgers.marks.get(each.schedule.id) ?? [],
      sums: ledgers.sums.get(each.schedule.id) ?? [],
    }));
    return plannedEvents(whole, window.days, window.until, now);
  }

  private async ledgersOf(
    schedules: readonly Readonly<{ schedule: PlannableSchedule; isSummed: boolean }>[],
    window: PlannedWindow,
    missed: Span,
  ) {
    const asked = (isSummed: boolean) =>
      schedules
        .filter((each) => each.isSummed === isSummed)
        .map(({ schedule: { id, nextSlotAt } }) => ({ id, until: nextSlotAt }));
    // One row more than is shown reveals that there are more.
    const limit = { perScheduleMax: EVENTS_PER_SCHEDULE_MAX + 1 };
    const [single, apart, sums] = await Promise.all([
      this.schedules.ledgers(asked(false), datesOf(window), datesOf(missed), { ...limit, apart: false }),
      this.schedules.ledgers(asked(true), datesOf(window), datesOf(missed), { ...limit, apart: true }),
      this.schedules.sums(
        asked(true),
        window.days.map((day) => new Date(day)),
        new Date(window.until),
        datesOf(missed),
      ),
    ]);
    return { marks: bySchedule([...single, ...apart]), sums: bySchedule(sums) };
  }
}

const inTime = (one: Readonly<{ at: string }>, other: Readonly<{ at: string }>): number =>
  one.at < other.at ? -1 : one.at > other.at ? 1 : 0;

const datesOf = ({ from, until }: Span) => ({ from: new Date(from), until: new Date(until) });

/** Computes the pieces of each time zone once. */
function piecesWithin({ from, until }: Span): ForecastRules['pieces'] {
  const known = new Map<string, ReturnType<typeof clockPieces>>();
  return (timezone) => {
    const pieces = known.get(timezone) ?? clockPieces(timezone, from, until);
    known.set(timezone, pieces);
    return pieces;
  };
}

function bySchedule<T extends Readonly<{ scheduleId: string }>>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const group = groups.get(each.scheduleId);
    if (group) group.push(each);
    else groups.set(each.scheduleId, [each]);
  }
  return groups;
}
