import { describe, expect, it } from '@jest/globals';
import type { LedgerMark, LedgerSum, PlannableSchedule } from '../../../projections/schedules/schedule-activity.queries.js';
import type { ScheduleTiming } from '../../triggers/schedules/schedule/schedule.events.js';
import { clockPieces } from './clock-pieces.policy.js';
import { forecastOf, isFrequentTiming } from './forecast.policy.js';
import { EVENTS_MAX, EVENTS_PER_SCHEDULE_MAX, plannedEvents } from './planned-events.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse('2026-01-05T12:00:00Z');
const iso = (ms: number) => new Date(ms).toISOString();
const every = (cron: string, endAt: string | null = null): ScheduleTiming => ({
  kind: 'recurring',
  cron,
  timezone: 'UTC',
  endAt,
});

type Given = Partial<PlannableSchedule>;
const schedule = (given: Given = {}): PlannableSchedule => ({
  id: 's1',
  agentId: 'guide',
  title: 'Report',
  status: 'active',
  timing: every('0 * * * *'),
  nextSlotAt: new Date(NOW + HOUR_MS),
  markedSince: new Date(NOW - 30 * DAY_MS),
  runs: 0,
  ...given,
});
const window = { from: NOW - 2 * HOUR_MS, until: NOW + 3 * HOUR_MS };
const missed = { from: NOW - 90 * DAY_MS, until: NOW - 10 * MINUTE_MS + 1 };
const forecast = (given: Given, of = window) =>
  forecastOf(schedule(given), { now: NOW, window: of, missed, pieces: (zone) => clockPieces(zone, of.from, of.until) });
const slots = (given: Given, of = window) =>
  forecast(given, of).flatMap((stretch) => [...stretch.each()].map((at) => [stretch.state, iso(at).slice(11, 16)]));

describe('an undecided slot', () => {
  it('is planned from the next slot of the schedule up to its end', () => {
    expect(slots({})).toEqual([['planned', '13:00'], ['planned', '14:00']]); // oxfmt-ignore
    expect(slots({ nextSlotAt: new Date(NOW + 2 * HOUR_MS) })).toEqual([['planned', '14:00']]);
    expect(slots({ timing: every('0 * * * *', iso(NOW + HOUR_MS)) })).toEqual([['planned', '13:00']]);
    expect(slots({ nextSlotAt: null })).toEqual([]);
    expect(slots({ status: 'completed' })).toEqual([]);
    expect(slots({ status: 'cancelled' })).toEqual([]);
  });

  it('is planned also if the schedule was stored with the short name of a time zone', () => {
    const timing = { ...every('0 5 * * *'), timezone: 'PST' } as const;
    expect(slots({ timing, nextSlotAt: new Date(NOW + HOUR_MS) })).toEqual([['planned', '13:00']]);
  });

  it('is missed after ten minutes and not before, also while no scheduler runs', () => {
    const at = (minutes: number) => ({ timing: every('* * * * *'), nextSlotAt: new Date(NOW + minutes * MINUTE_MS) });
    const seen = slots(at(-12), { from: NOW - HOUR_MS, until: NOW + MINUTE_MS });
    expect(seen.slice(0, 4)).toEqual([['missed', '11:48'], ['missed', '11:49'], ['missed', '11:50'], ['planned', '11:51']]); // oxfmt-ignore
    expect(seen).toHaveLength(13);
  });

  it('is not missed before the last change of the schedule or before the retention period of runs', () => {
    const late = { timing: every('0 * * * *'), nextSlotAt: new Date(NOW - 5 * HOUR_MS) };
    const since = new Date(NOW - HOUR_MS);
    expect(slots({ ...late, markedSince: since })).toEqual([['missed', '11:00'], ['planned', '12:00'], ['planned', '13:00'], ['planned', '14:00']]); // oxfmt-ignore
    const old = { from: NOW - 91 * DAY_MS, until: NOW - 90 * DAY_MS + HOUR_MS };
    const ancient = { timing: every('0 * * * *'), nextSlotAt: new Date(0), markedSince: new Date(0) };
    expect(slots(ancient, old)).toEqual([['missed', '12:00']]);
  });

  it('is paused with its schedule, and not shown if it passed during the pause', () => {
    const paused = { status: 'paused', nextSlotAt: new Date(NOW - 5 * HOUR_MS) } as const;
    expect(slots(paused)).toEqual([['paused', '13:00'], ['paused', '14:00']]); // oxfmt-ignore
    const once: ScheduleTiming = { kind: 'once', runAt: iso(NOW - HOUR_MS), timezone: 'UTC' };
    expect(slots({ ...paused, timing: once, nextSlotAt: new Date(NOW - HOUR_MS) })).toEqual([]);
  });

  it('is the only one of a one-time schedule', () => {
    const once = (at: number): Given => ({ timing: { kind: 'once', runAt: iso(at), timezone: 'UTC' }, nextSlotAt: new Date(at) });
    expect(slots(once(NOW + HOUR_MS))).toEqual([['planned', '13:00']]);
    expect(slots(once(NOW - HOUR_MS))).toEqual([['missed', '11:00']]);
    expect(slots(once(NOW + 5 * HOUR_MS))).toEqual([]);
  });
});

it.each<[string, boolean]>([
  ['0 * * * *', true],
  ['*/15 * * * *', true],
  ['0 0,23 * * *', true],
  ['30 8,9 * * 1', true],
  ['0 */2 * * *', false],
  ['0 9 * * *', false],
])('%s has slots an hour or less apart: %s', (cron, expected) => expect(isFrequentTiming(every(cron))).toBe(expected));

const mark = (index: number, status: LedgerMark['status'] = 'success'): LedgerMark => ({
  scheduleId: 's1',
  runId: `r${index}`,
  status,
  at: NOW - index * MINUTE_MS,
  errorType: null,
});
const shown = (given: Given, more: { marks?: LedgerMark[]; sums?: LedgerSum[]; isSummed?: boolean }, of = window) => ({
  schedule: schedule(given),
  forecast: forecast(given, of),
  isSummed: false,
  marks: [],
  sums: [],
  ...more,
});

describe('the events shown', () => {
  it('are one per day and state for a summed schedule, and single ones for runs that are never summed', () => {
    const midnight = NOW - 12 * HOUR_MS;
    const of = { from: midnight, until: midnight + 2 * DAY_MS };
    const sum = (status: LedgerSum['status'], count: number, from: number): LedgerSum => ({
      scheduleId: 's1',
      stretch: 0,
      status,
      count,
      first: new Date(from),
      last: new Date(from + HOUR_MS),
    });
    const given = { timing: every('* * * * *'), nextSlotAt: new Date(NOW - 20 * MINUTE_MS) };
    const sums = [sum('success', 600, midnight), sum('skipped', 3, midnight + 1), sum('missed', 2, midnight + 2)];
    const { events } = plannedEvents([shown(given, { isSummed: true, marks: [mark(30, 'failed')], sums }, of)], [midnight, midnight + DAY_MS], of.until, NOW); // oxfmt-ignore
    const common = { kind: 'schedule', schedule_id: 's1', agent_id: 'guide', name: 'Report' };
    expect(events).toEqual([
      { ...common, status: 'success', at: iso(midnight), count: 600, until: iso(midnight + HOUR_MS) },
      { ...common, status: 'skipped', at: iso(midnight + 1), count: 3, until: iso(midnight + 1 + HOUR_MS) },
      // Missed slots in the ledger and undecided missed slots are one sum.
      { ...common, state: 'missed', at: iso(midnight + 2), count: 13, until: iso(NOW - 10 * MINUTE_MS) },
      { ...common, status: 'failed', run_id: 'r30', error_type: null, at: iso(NOW - 30 * MINUTE_MS) },
      { ...common, state: 'planned', at: iso(NOW - 9 * MINUTE_MS), count: 729, until: iso(midnight + DAY_MS - MINUTE_MS) },
      { ...common, state: 'planned', at: iso(midnight + DAY_MS), count: 1440, until: iso(of.until - MINUTE_MS) },
    ]);
  });

  it('are those nearest to now for a schedule with too many, which is named as truncated', () => {
    const many = Array.from({ length: EVENTS_PER_SCHEDULE_MAX + 1 }, (_, index) => mark(index + 1));
    const { events, truncated } = plannedEvents([shown({ nextSlotAt: null }, { marks: many })], [window.from], window.until, NOW);
    expect([events.length, truncated]).toEqual([EVENTS_PER_SCHEDULE_MAX, ['s1']]);
    expect(events[0]).toMatchObject({ run_id: `r${EVENTS_PER_SCHEDULE_MAX}` });
    const whole = plannedEvents([shown({ nextSlotAt: null }, { marks: many.slice(1) })], [window.from], window.until, NOW);
    expect([whole.events.length, whole.truncated]).toEqual([EVENTS_PER_SCHEDULE_MAX, []]);
  });

  it('are an equal share of each schedule if all together have too many, and truncated schedules are named', () => {
    const many = Array.from({ length: EVENTS_PER_SCHEDULE_MAX }, (_, index) => mark(index + 1));
    const full = Array.from({ length: EVENTS_MAX / EVENTS_PER_SCHEDULE_MAX }, (_, index) =>
      shown({ id: `s${index}`, nextSlotAt: null }, { marks: many }),
    );
    const days = [window.from];
    expect(plannedEvents(full, days, window.until, NOW)).toMatchObject({ events: { length: EVENTS_MAX }, truncated: [] });
    const small = shown({ id: 'small', nextSlotAt: null }, { marks: [mark(1)] });
    const { events, truncated } = plannedEvents([...full, small], days, window.until, NOW);
    expect(events.length).toBeLessThanOrEqual(EVENTS_MAX);
    expect(truncated).toEqual(full.map(({ schedule: { id } }) => id));
  });
});
