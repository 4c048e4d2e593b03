import { Cron } from 'croner';
import { LRUCache } from 'lru-cache';
import { Temporal } from 'temporal-polyfill';
import { Rejection } from '../../../kernel/rejection.js';
import type { ScheduleTiming } from './schedule.events.js';

/** Minute, hour, day of the month, month, day of the week, on the clocks of an IANA zone. */
export type Recurrence = Readonly<{ cron: string; timezone: string }>;

const CRON_CHARACTERS_MAX = 200;
/** How many slots are looked at to find the shortest time between two of them. */
export const CADENCE_SLOTS_MAX = 64;
/** How many parsed recurrences are kept: parsing one costs as much as a slot of it. */
export const RECURRENCES_KEPT_MAX = 1_000;

const FIELDS = 5;
/** Parsed once while it is in use. */
const parsed = new LRUCache<string, Cron, Recurrence>({
  max: RECURRENCES_KEPT_MAX,
  memoMethod: (_key, _stale, { context: { cron, timezone } }) => parse(cron, timezone),
});

/**
 * The moments of a recurrence after a moment, in order, without end. On the days when clocks change: a fixed time (no `*`
 * and no step in its minute and hour) that the clocks leave out is due in the first minute after the gap, and one that they show
 * twice is due once, at first. Any other recurrence goes by the clocks: what they leave out is no slot, what they show twice is two.
 * @throws Rejection invalid-schedule
 */
export function* slotsOf(recurrence: Recurrence, after: Date): Generator<Date, void> {
  const cron = parsed.memo(`${recurrence.timezone} ${recurrence.cron}`, { context: recurrence });
  for (let slot = cron.nextRun(after); slot; slot = cron.nextRun(slot)) yield slot;
}

/** The slots of a timing after a moment and up to another, at most so many. */
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

/** The slots of a timing after a moment, in order. A slot at the very end still is one. */
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

/** The shortest time between two of the next slots; undefined when there are fewer than two. */
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

/** An offset such as `+02:00` is no zone, although some runtimes take it for one. */
export function isTimezone(text: string): boolean {
  if (text === '' || text.startsWith('+') || text.startsWith('-')) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}

/** Years have four digits: other years cannot be written in every calendar and date format. */
const MOMENT_MIN = Date.parse('0001-01-01T00:00:00.000Z');
const MOMENT_MAX = Date.parse('9999-12-31T23:59:59.999Z');

const ZONED = /(?:[zZ]|[+-]\d{2}(?::?\d{2})?(?::?\d{2}(?:\.\d+)?)?)$/;

/**
 * The moment that an ISO 8601 text names; without an offset it is read on the clocks of the zone, by the same rules as a
 * fixed time of a recurrence. Undefined when it is none, or not in a year of four digits.
 */
export function momentOf(text: string, timezone: string): Date | undefined {
  const moment = namedBy(text, timezone);
  const isInBounds = moment !== undefined && moment.getTime() >= MOMENT_MIN && moment.getTime() <= MOMENT_MAX;
  return isInBounds ? moment : undefined;
}

function namedBy(text: string, timezone: string): Date | undefined {
  try {
    // What stands in brackets is passed over when it is read.
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
  // `?` would stand for the minute in which it is parsed: another one in every process.
  if (cron.includes('?') || cron.length > CRON_CHARACTERS_MAX || cron.trim().split(/\s+/).length !== FIELDS) {
    throw invalid(`it needs ${FIELDS} fields`);
  }
  if (!isTimezone(timezone)) throw new Rejection('invalid-schedule', `unknown timezone: ${timezone}`);
  try {
    return new Cron(cron, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
  } catch (error) {
    throw invalid(error);
  }
}

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
