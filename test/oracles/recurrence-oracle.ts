import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';

/**
 * The slots of a recurrence, implemented a second time as simply as possible: every minute is checked on the clocks of the zone,
 * and every fixed time on every day of its calendar.
 */
export type Fields = readonly [minute: string, hour: string, day: string, month: string, weekday: string];

const MINUTE_MS = 60_000;
const BOUNDS = [[0, 59], [0, 23], [1, 31], [1, 12], [0, 6]] as const; // oxfmt-ignore

function valuesOf(field: string, [first, last]: readonly [number, number]): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const [range, step = '1'] = part.split('/') as [string, string?];
    const [from, to = from] = range === '*' ? [first, last] : (range.split('-').map(Number) as [number, number?]);
    for (let value = from; value <= to; value += Number(step)) values.add(value);
  }
  return values;
}

const matchersOf = (fields: Fields) => fields.map((field, index) => valuesOf(field, BOUNDS[index]!));
const known = new WeakMap<Fields, ReturnType<typeof matchersOf>>();

/** Cached, because every minute needs them. */
function matchers(fields: Fields): ReturnType<typeof matchersOf> {
  const found = known.get(fields) ?? matchersOf(fields);
  known.set(fields, found);
  return found;
}

/** If both are restricted, a match of either the day of the month or the day of the week is enough. */
function isDay(fields: Fields, { day, month, dayOfWeek }: Pick<Temporal.PlainDate, 'day' | 'month' | 'dayOfWeek'>): boolean {
  const [, , days, months, weekdays] = matchers(fields);
  const [isDayOfMonth, isWeekday] = [days!.has(day), weekdays!.has(dayOfWeek % 7)];
  const fits = fields[2] !== '*' && fields[4] !== '*' ? isDayOfMonth || isWeekday : isDayOfMonth && isWeekday;
  return months!.has(month) && fits;
}

const isFixed = ([minute, hour]: Fields): boolean => !/[*/]/.test(minute + hour);

type Minute = Readonly<{ at: number; minute: number; hour: number; day: number; month: number; dayOfWeek: number }>;

/** A zone's days around a clock change, minute by minute. */
export class Days {
  readonly minutes: readonly Minute[];
  private readonly first: Temporal.PlainDate;
  private readonly last: Temporal.PlainDate;
  constructor(
    readonly timezone: string,
    readonly from: number,
    readonly until: number,
  ) {
    const shown = (at: number) => Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
    this.first = shown(from).toPlainDate().subtract({ days: 1 });
    this.last = shown(until).toPlainDate().add({ days: 1 });
    this.minutes = Array.from({ length: (until - from) / MINUTE_MS }, (_, index) => {
      const at = from + (index + 1) * MINUTE_MS;
      const { minute, hour, day, month, dayOfWeek } = shown(at);
      return { at, minute, hour, day, month, dayOfWeek };
    });
  }

  slots(fields: Fields): readonly string[] {
    const moments = isFixed(fields) ? this.fixed(fields) : this.byTheClocks(fields);
    return [...new Set(moments)].sort((a, b) => a - b).map((moment) => new Date(moment).toISOString());
  }

  private byTheClocks(fields: Fields): readonly number[] {
    const [minutes, hours] = matchers(fields);
    const fitting = this.minutes.filter((each) => minutes!.has(each.minute) && hours!.has(each.hour) && isDay(fields, each));
    return fitting.map(({ at }) => at);
  }

  private fixed(fields: Fields): readonly number[] {
    const [minutes, hours] = matchers(fields);
    const moments: number[] = [];
    for (let day = this.first; Temporal.PlainDate.compare(day, this.last) <= 0; day = day.add({ days: 1 })) {
      if (!isDay(fields, day)) continue;
      for (const hour of hours!)
        for (const minute of minutes!) moments.push(this.momentOf(day.toPlainDateTime({ hour, minute })));
    }
    return moments.filter((moment) => moment > this.from && moment <= this.until);
  }

  /** The first of two equal local times. For a time that a clock change skips, the first minute after it. */
  private momentOf(local: Temporal.PlainDateTime): number {
    for (let shown = local; ; shown = shown.add({ minutes: 1 })) {
      const zoned = shown.toZonedDateTime(this.timezone, { disambiguation: 'earlier' });
      if (zoned.toPlainDateTime().equals(shown)) return zoned.epochMilliseconds;
    }
  }
}

/** The days of a zone between two times. */
const around = (timezone: string, from: string, until: string) => new Days(timezone, Date.parse(from), Date.parse(until));

/** Days around clock changes, of an hour and of half an hour, at night and at midnight. */
export const DAYS = {
  'Prague, clocks go forward': around('Europe/Prague', '2026-03-27T12:00:00Z', '2026-03-30T12:00:00Z'),
  'Prague, clocks go back': around('Europe/Prague', '2026-10-23T12:00:00Z', '2026-10-26T12:00:00Z'),
  'Santiago, clocks go forward at midnight': around('America/Santiago', '2026-09-04T12:00:00Z', '2026-09-07T12:00:00Z'),
  'Santiago, clocks go back at midnight': around('America/Santiago', '2026-04-03T12:00:00Z', '2026-04-06T12:00:00Z'),
  'Lord Howe, half an hour forward': around('Australia/Lord_Howe', '2026-10-02T12:00:00Z', '2026-10-05T12:00:00Z'),
  'Lord Howe, half an hour back': around('Australia/Lord_Howe', '2026-04-03T12:00:00Z', '2026-04-06T12:00:00Z'),
};

const below = (count: number, first = 0) => fc.integer({ min: first, max: first + count - 1 });
const listOf = (value: fc.Arbitrary<number>) =>
  fc.uniqueArray(value, { minLength: 1, maxLength: 3 }).map((values) => values.sort((a, b) => a - b).join(','));
const minutes = fc.oneof(listOf(below(60)), fc.constantFrom('*', '*/15', '*/30', '*/7', '0-20', '5-50/9'));
/** Mostly the hours in which clocks change. */
const hours = fc.oneof(listOf(below(24)), listOf(below(4)), fc.constantFrom('*', '*/2', '0-3', '1-4', '23', '22-23'));
const days = fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: listOf(below(31, 1)) });
const months = fc.oneof({ weight: 4, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: fc.constantFrom('3,10', '4-9') });
const weekdays = fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: listOf(below(7)) });
/** Recurrences, of which most are affected by clock changes. */
export const recurrences: fc.Arbitrary<Fields> = fc.tuple(minutes, hours, days, months, weekdays);
