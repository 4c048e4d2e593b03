import type { LedgerMark, LedgerSum, PlannableSchedule } from '../../../projections/schedules/schedule-activity.queries.js';
import type { SlotState, Span, Stretch } from './forecast.policy.js';

/** The events of a frequent schedule with more than this in a window are summed by day. */
export const EVENTS_PER_SCHEDULE_UNSUMMED_MAX = 1_000;
/** The maximum number of events of a schedule. Those nearest to now are kept. */
export const EVENTS_PER_SCHEDULE_MAX = 1_000;
/** The maximum number of events of all schedules. Above it, each schedule gets an equal share. */
export const EVENTS_MAX = 50_000;

/** A schedule in a window: its decided runs and slots, and the forecast of the others. */
export type ScheduleInWindow = Readonly<{
  schedule: PlannableSchedule;
  forecast: readonly Stretch[];
  isSummed: boolean;
  marks: readonly LedgerMark[];
  sums: readonly LedgerSum[];
}>;

/** A slot or a run as a viewer sees it. A slot without a run has a state, and a run has a status. */
type Shown = Readonly<{ state: SlotState } | { status: LedgerMark['status']; run_id?: string; error_type?: string | null }>;

type ScheduleEventRecord = Shown &
  Readonly<{
    kind: 'schedule';
    at: string;
    schedule_id: string;
    agent_id: string | null;
    name: string;
    /** For a sum: the number of slots or runs from `at` to `until`. */
    count?: number;
    until?: string;
  }>;

type Draft = Readonly<{ at: number; shown: Shown; sum?: Readonly<{ count: number; until: number }> }>;

export type PlannedSchedules = Readonly<{ events: readonly ScheduleEventRecord[]; truncated: readonly string[] }>;

/** The events of schedules in order of time, and the ids of the schedules whose events are truncated. */
export function plannedEvents(
  schedules: readonly ScheduleInWindow[],
  days: readonly number[],
  until: number,
  now: number,
): PlannedSchedules {
  const drafts = schedules.map((each) => ({ schedule: each.schedule, all: draftsOf(each, days, until) }));
  const limit = shareOf(drafts.map(({ all }) => all.length));
  const events: { at: number; event: ScheduleEventRecord }[] = [];
  const truncated: string[] = [];
  for (const { schedule, all } of drafts) {
    const kept = all.length > limit ? nearest(all, now, limit) : all;
    if (kept.length < all.length) truncated.push(schedule.id);
    for (const draft of kept) events.push({ at: draft.at, event: eventOf(schedule, draft) });
  }
  return { events: events.sort((one, other) => one.at - other.at).map(({ event }) => event), truncated };
}

function shareOf(counts: readonly number[]): number {
  const all = counts.reduce((sum, count) => sum + Math.min(count, EVENTS_PER_SCHEDULE_MAX), 0);
  return all <= EVENTS_MAX ? EVENTS_PER_SCHEDULE_MAX : Math.max(1, Math.floor(EVENTS_MAX / counts.length));
}

/** The drafts nearest to now. Sums come before single events, because they show the most in the fewest events. */
function nearest(drafts: readonly Draft[], now: number, limit: number): readonly Draft[] {
  const rank = ({ sum }: Draft) => (sum ? 0 : 1);
  const far = ({ at }: Draft) => Math.abs(at - now);
  return [...drafts].sort((one, other) => rank(one) - rank(other) || far(one) - far(other)).slice(0, limit);
}

function draftsOf(
  { forecast, isSummed, marks, sums }: ScheduleInWindow,
  days: readonly number[],
  until: number,
): readonly Draft[] {
  const drafts: Draft[] = marks.map((mark) => ({ at: mark.at, shown: shownOf(mark) }));
  if (!isSummed) {
    for (const stretch of forecast) for (const at of stretch.each()) drafts.push({ at, shown: stretch });
    return drafts;
  }
  const summed = new Map<string, Draft>();
  const add = (day: number, shown: Shown, { count, first, last }: { count: number; first: number; last: number }) => {
    const key = `${day} ${'state' in shown ? shown.state : shown.status}`;
    const { at = first, sum } = summed.get(key) ?? {};
    const until = Math.max(sum?.until ?? last, last);
    summed.set(key, { at: Math.min(at, first), shown, sum: { count: count + (sum?.count ?? 0), until } });
  };
  for (const { stretch, status, count, first, last } of sums) {
    add(stretch, summedAs(status), { count, first: first.getTime(), last: last.getTime() });
  }
  for (const stretch of forecast) {
    for (const [day, part] of partsOf(days, until).entries()) {
      const sum = stretch.sum(part);
      if (sum) add(day, stretch, sum);
    }
  }
  return [...drafts, ...summed.values()];
}

const partsOf = (starts: readonly number[], until: number): readonly Span[] =>
  starts.map((from, index) => ({ from, until: starts[index + 1] ?? until }));

const summedAs = (status: LedgerMark['status']): Shown => (status === 'missed' ? { state: 'missed' } : { status });

const shownOf = ({ status, runId, errorType }: LedgerMark): Shown =>
  status === 'missed' ? { state: 'missed' } : { status, run_id: runId, error_type: errorType };

function eventOf({ id, agentId, title }: PlannableSchedule, { at, shown, sum }: Draft): ScheduleEventRecord {
  return {
    kind: 'schedule',
    ...('state' in shown ? { state: shown.state } : shown),
    at: new Date(at).toISOString(),
    schedule_id: id,
    agent_id: agentId,
    name: title,
    ...(sum && { count: sum.count, until: new Date(sum.until).toISOString() }),
  };
}
