import { Temporal } from 'temporal-polyfill';
import { Rejection } from '../../kernel/rejection.js';
import { isTimezone, momentOf } from '../../triggers/schedules/schedule/slots.policy.js';
import type { Span } from './forecast.policy.js';

const WINDOW_DAYS_MAX = 62;
/** The length of a window without a given end. */
const WINDOW_DAYS = 7;
const TIMEZONE_CHARACTERS_MAX = 200;

/** The range of times that calendar and database both write with a year of four digits. */
const MOMENT_MIN = Date.parse('1970-01-01T00:00:00Z');
const MOMENT_MAX = Date.parse('9999-01-01T00:00:00Z');
const DAY_MS = 86_400_000;

/** The unchecked query of a calendar. */
export type WindowRequest = Readonly<{ from?: unknown; to?: unknown; tz?: unknown }>;

/** A window in the viewer's time zone. `days`: the beginning of each day. The first is the beginning of the window. */
export type PlannedWindow = Span & Readonly<{ timezone: string; days: readonly number[] }>;

const invalid = (text: string) => new Rejection('invalid-request', text);

/**
 * The requested window. Times without an offset are local times of its time zone. Without `from` it begins at the start of today
 * in that zone, and without `to` it is a week long. @throws Rejection invalid-request
 */
export function windowIn({ from, to, tz }: WindowRequest, now: Date): PlannedWindow {
  const timezone = timezoneIn(tz);
  const zoned = (moment: number) => Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timezone);
  const start = given(from) ? momentIn('from', from, timezone) : zoned(now.getTime()).startOfDay().epochMilliseconds;
  const end = given(to) ? momentIn('to', to, timezone) : zoned(start).add({ days: WINDOW_DAYS }).epochMilliseconds;
  if (end < start) throw invalid('to must not be before from');
  const longest = Math.max(zoned(start).add({ days: WINDOW_DAYS_MAX }).epochMilliseconds, start + WINDOW_DAYS_MAX * DAY_MS);
  if (end > longest) throw invalid(`the window must not be longer than ${WINDOW_DAYS_MAX} days`);
  return { from: start, until: end, timezone, days: daysOf(zoned(start), end) };
}

function daysOf(start: Temporal.ZonedDateTime, until: number): readonly number[] {
  const days = [start.epochMilliseconds];
  for (let day = start.add({ days: 1 }).startOfDay(); day.epochMilliseconds < until; day = day.add({ days: 1 }).startOfDay()) {
    days.push(day.epochMilliseconds);
  }
  return days;
}

const given = (value: unknown): boolean => value !== undefined && value !== '';

function timezoneIn(value: unknown): string {
  if (!given(value)) return 'UTC';
  if (typeof value !== 'string' || value.length > TIMEZONE_CHARACTERS_MAX || !isTimezone(value))
    throw invalid('unknown timezone');
  return value;
}

/** The `+` of an offset arrives as a space if the client did not encode the query. */
const SPACE_FOR_PLUS = /^([^T]*T[^ ]*) (?=\d{2}(?::?\d{2})?$)/i;

function momentIn(name: string, value: unknown, timezone: string): number {
  const moment = typeof value === 'string' ? momentOf(value.replace(SPACE_FOR_PLUS, '$1+'), timezone) : undefined;
  const time = moment?.getTime() ?? NaN;
  if (!(time >= MOMENT_MIN && time <= MOMENT_MAX)) throw invalid(`invalid ${name}`);
  return time;
}
