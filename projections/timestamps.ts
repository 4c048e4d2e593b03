/**
 * The latest time of a `Date`, in milliseconds since 1970; its negative is the earliest. The two represent `infinity` and
 * `-infinity`.
 */
const DATE_MS_MAX = 8_640_000_000_000_000;
/** Timestamps of Postgres begin in 4714 BC. Times before this year become `-infinity`. */
const YEAR_MIN = -4_712;

const OTHER_YEAR = /^([+-]\d{6}|0000)(-.+)$/;

/**
 * A time in the format that Postgres reads. JavaScript writes years of more than four digits with a sign and counts the years BC
 * down from 0. Postgres accepts neither. @throws RangeError for a text that is not a time, such as `yesterday`, which Postgres
 * would accept
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

/**
 * The time of a text that Postgres wrote in a session in UTC. A time outside the range of `Date` becomes its earliest or latest.
 */
export function fromTimestamp(text: string): Date {
  const date = new Date(text);
  // JavaScript reads the years 1 to 99 as two-digit years of the 20th and 21st centuries.
  if (!Number.isNaN(date.getTime()) && !text.startsWith('00')) return date;
  const [, digits, day, time, era] = IN_UTC.exec(text) ?? [];
  if (digits === undefined) return new Date(text.startsWith('-') ? -DATE_MS_MAX : DATE_MS_MAX);
  const year = era ? 1 - Number(digits) : Number(digits);
  const moment = Date.parse(`${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}-${day}T${time}Z`);
  return new Date(Number.isNaN(moment) ? DATE_MS_MAX : moment);
}
