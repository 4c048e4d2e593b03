import { Cron } from 'croner';
import { LRUCache } from 'lru-cache';
import { Temporal } from 'temporal-polyfill';
import { Rejection } from '../../../kernel/rejection.js';
import type { ScheduleTiming } from './schedule.events.js';

/** A cron expression (minute, hour, day of the month, month, day of the week) in an IANA time zone. */
export type Recurrence = Readonly<{ cron: string; timezone: string }>;

const CRON_CHARACTERS_MAX = 200;
/** Number of slots that are examined to find the shortest time between two of them. */
export const CADENCE_SLOTS_MAX = 64;
/** Number of cached recurrences. Parsing one costs as much as computing one slot. */
export const RECURRENCES_KEPT_MAX = 1_000;

const FIELDS = 5;
/** Recently used recurrences, parsed. */
const parsed = new LRUCache<string, Cron, Recurrence>({
  max: RECURRENCES_KEPT_MAX,
  memoMethod: (_key, _stale, { context: { cron, timezone } }) => parse(cron, timezone),
});

/** Number of cached slots. */
const SLOTS_KEPT_MAX = 10_000;
/**
 * Recently used slots, by the moment before them; infinity if there is none. Many schedules have the same recurrence, and each
 * decision asks for the same slots several times.
 */
const computed = new LRUCache<string, number, Readonly<{ cron: Cron; after: number }>>({
  max: SLOTS_KEPT_MAX,
  memoMethod: (_key, _stale, { context: { cron, after } }) => cron.nextRun(new Date(after))?.getTime() ?? Infinity,
});

/**
 * The endless sequence of slots after a moment. When clocks change: a fixed time (no `*` and no step in its minute and hour) that
 * the clocks skip is due in the first minute after the gap, and one that occurs twice is due at its first occurrence only. Other
 * recurrences follow the clocks: skipped times are no slots, and repeated times are two slots.
 * @throws Rejection invalid-schedule
 */
export function* slotsOf(recurrence: Recurrence, after: Date): Generator<Date, void> {
  const name = `${recurrence.timezone} ${recurrence.cron}`;
  const cron = parsed.memo(name, { context: recurrence });
  const next = (moment: number) => computed.memo(`${moment} ${name}`, { context: { cron, after: moment } });
  for (let slot = next(after.getTime()); slot !== Infinity; slot = next(slot)) yield new Date(slot);
}

/** The slots later than `after` and up to `until`, at most `limit` of them. */
export function slotsBetween(timing: ScheduleTiming, after: Date, until: Date, limit: number): readonly Date[] {
  const slots: Date[] = [];
  for (const slot of slotsAfter(timing, after)) {
    if (slot > until || slots.length === limit) break;
    slots.push(slot);
  }
  return slots;
}

/** The first slot of a timing after a moment. */
export const nextSlot = (timing: ScheduleTiming, after: Date): Date | undefined =>
  slotsAfter(timing, after).next().value ?? undefined;

/** The slots of a timing after a moment, in order. A slot exactly at `endAt` is included. */
export function* slotsAfter(timing: ScheduleTiming, after: Date): Generator<Date, void> {
  if (timing.kind === 'once') {
    const runAt = new Date(timing.runAt);
    if (runAt > after) yield runAt;
    return;
  }
  const end = timing.endAt === null ? Infinity : Date.parse(timing.endAt);
  for (const slot of slotsOf(timing, after)) {
    if (slot.getTime() > end) return;
    yield slot;
  }
}

/** The shortest time between two of the next slots; undefined if there are fewer than two slots. */
export function cadenceSeconds(recurrence: Recurrence, after: Date): number | undefined {
  let shortest: number | undefined;
  let before: Date | undefined;
  let count = 0;
  for (const slot of slotsOf(recurrence, after)) {
    if (before) shortest = Math.min(shortest ?? Infinity, (slot.getTime() - before.getTime()) / 1000);
    before = slot;
    if (++count === CADENCE_SLOTS_MAX) break;
  }
  return shortest;
}

/**
 * Whether a text is the name of an IANA time zone. `Intl` also knows offsets and short names such as PST and IST, which Temporal
 * refuses, and Temporal also takes the zone of a whole moment.
 */
export function isTimezone(text: string): boolean {
  if (!isKnownTimezone(text)) return false;
  try {
    return Boolean(Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text));
  } catch {
    return false;
  }
}

/** Whether slots can be computed in a time zone. Earlier versions stored schedules with short names too. */
function isKnownTimezone(text: string): boolean {
  if (text === '' || text.startsWith('+') || text.startsWith('-')) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}

/** Only years of four digits are accepted, because some calendars and date formats cannot represent others. */
const MOMENT_MIN = Date.parse('0001-01-01T00:00:00.000Z');
const MOMENT_MAX = Date.parse('9999-12-31T23:59:59.999Z');

const ZONED = /(?:[zZ]|[+-]\d{2}(?::?\d{2})?(?::?\d{2}(?:\.\d+)?)?)$/;

/**
 * The moment that an ISO 8601 text denotes. A text without an offset is a local time of the zone, with the same rules for clock
 * changes as a fixed time of a recurrence. Undefined if the text is invalid or the year does not have four digits.
 */
export function momentOf(text: string, timezone: string): Date | undefined {
  const moment = namedBy(text, timezone);
  const isInBounds = moment !== undefined && moment.getTime() >= MOMENT_MIN && moment.getTime() <= MOMENT_MAX;
  return isInBounds ? moment : undefined;
}

function namedBy(text: string, timezone: string): Date | undefined {
  try {
    // Temporal would ignore a time zone in brackets, so such texts are rejected.
    if (text.includes('[')) return undefined;
    const time = /[T ].*/i.exec(text)?.[0] ?? '';
    if (ZONED.test(time)) return new Date(Temporal.Instant.from(text).epochMilliseconds);
    const local = Temporal.PlainDateTime.from(text);
    const zoned = local.toZonedDateTime(timezone, { disambiguation: 'compatible' });
    if (zoned.toPlainDateTime().equals(local)) return new Date(zoned.epochMilliseconds);
    return new Date(zoned.getTimeZoneTransition('previous')!.epochMilliseconds);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** @throws Rejection invalid-schedule */
function parse(cron: string, timezone: string): Cron {
  const invalid = (cause: unknown) => new Rejection('invalid-schedule', `invalid cron: ${textOf(cause)}`);
  // `?` means the minute at which the expression is parsed, which differs between processes.
  if (cron.includes('?') || cron.length > CRON_CHARACTERS_MAX || cron.trim().split(/\s+/).length !== FIELDS) {
    throw invalid(`it needs ${FIELDS} fields`);
  }
  if (!isKnownTimezone(timezone)) throw new Rejection('invalid-schedule', `unknown timezone: ${timezone}`);
  try {
    return new Cron(cron, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
  } catch (error) {
    throw invalid(error);
  }
}

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
