/** The last moment that a Date can say, in milliseconds to either side of 1970. It and the first stand for `infinity` and `-infinity`. */
const DATE_MS_MAX = 8_640_000_000_000_000;
/** Postgres begins in 4714 BC; what is before that is before everything it holds. */
const YEAR_MIN = -4_712;

const OTHER_YEAR = /^([+-]\d{6}|0000)(-.+)$/;

/**
 * A moment as Postgres reads it. JavaScript writes years of more than four digits with a sign and counts those before the first
 * down from 0, neither of which Postgres takes. @throws RangeError for what is no moment, as `yesterday`, which Postgres would take
 */
export function asTimestamp(moment: Date | string): string {
  if (moment === 'infinity' || moment === '-infinity') return moment;
  const text = (typeof moment === 'string' ? new Date(moment) : moment).toISOString();
  const [, year, rest] = OTHER_YEAR.exec(text) ?? [];
  if (year === undefined) return text;
  if (Date.parse(text) === DATE_MS_MAX) return 'infinity';
  if (Number(year) < YEAR_MIN) return '-infinity';
  return Number(year) > 0 ? `${Number(year)}${rest}` : `${String(1 - Number(year)).padStart(4, '0')}${rest} BC`;
}

const IN_UTC = /^(\d+)-(\d\d-\d\d) ([\d:.]+)\+00( BC)?$/;

/** The moment of a text as Postgres writes it to sessions in UTC; of one that no Date can say the last that one can. */
export function fromTimestamp(text: string): Date {
  const date = new Date(text);
  // Of the first hundred years JavaScript takes the last two digits for years of its own time.
  if (!Number.isNaN(date.getTime()) && !text.startsWith('00')) return date;
  const [, digits, day, time, era] = IN_UTC.exec(text) ?? [];
  if (digits === undefined) return new Date(text.startsWith('-') ? -DATE_MS_MAX : DATE_MS_MAX);
  const year = era ? 1 - Number(digits) : Number(digits);
  const moment = Date.parse(`${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}-${day}T${time}Z`);
  return new Date(Number.isNaN(moment) ? DATE_MS_MAX : moment);
}
