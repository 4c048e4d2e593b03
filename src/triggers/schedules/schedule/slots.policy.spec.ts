import { describe, expect, it } from '@jest/globals';
import {
  CADENCE_SLOTS_MAX,
  cadenceSeconds,
  isTimezone,
  momentOf,
  nextSlot,
  RECURRENCES_KEPT_MAX,
  slotsOf,
} from './slots.policy.js';

const first = (cron: string, after: string, timezone = 'Europe/Prague') =>
  slotsOf({ cron, timezone }, new Date(after)).next().value?.toISOString();

describe('a recurrence', () => {
  it('at a fixed time that the clocks skip is due right after the gap', () =>
    expect(first('30 2 * * *', '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00:00.000Z'));
  it('at a fixed time that occurs twice is due at its first occurrence only', () => {
    expect(first('30 2 * * *', '2026-10-24T12:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(first('30 2 * * *', '2026-10-25T00:30:00Z')).toBe('2026-10-26T01:30:00.000Z');
  });
  it.each([
    '@daily',
    '* * * *',
    '* * * * * *',
    '? * * * *',
    '61 * * * *',
    'at noon, every single day',
    `0 0 ${'1,'.repeat(120)}1 * *`,
  ])('cannot be %s', (cron) =>
    expect(() => first(cron, '2026-01-01T00:00:00Z')).toThrow(expect.objectContaining({ code: 'invalid-schedule' })),
  );
  it('may name a day that does not exist', () => expect(first('0 0 30 2 *', '2026-01-01T00:00:00Z')).toBeUndefined());
  it('is parsed again after it was evicted from the cache', () => {
    for (let index = 0; index <= RECURRENCES_KEPT_MAX; index++)
      first(`${index % 60} ${index % 24} * * *`, '2026-01-01T00:00:00Z', index % 2 ? 'UTC' : 'Europe/Prague');
    expect(first('0 0 * * *', '2026-01-01T12:00:00Z', 'UTC')).toBe('2026-01-02T00:00:00.000Z');
  });
  it('gives each caller slots of its own, though computed slots are kept', () => {
    const slot = () => slotsOf({ cron: '0 7 * * *', timezone: 'UTC' }, new Date('2026-01-01T00:00:00Z')).next().value!;
    slot().setUTCFullYear(1999);
    expect(slot().toISOString()).toBe('2026-01-01T07:00:00.000Z');
  });
  it('has the cadence of its shortest interval', () => {
    const after = new Date('2026-01-01T00:00:00Z');
    expect(cadenceSeconds({ cron: '0,10 * * * *', timezone: 'UTC' }, after)).toBe(600);
    expect(cadenceSeconds({ cron: '0 0 29 2 *', timezone: 'UTC' }, after)).toBeGreaterThan(86_400 * 365);
    expect(cadenceSeconds({ cron: '0 0 30 2 *', timezone: 'UTC' }, after)).toBeUndefined();
  });
  it('has the shortest interval of the next CADENCE_SLOTS_MAX slots as cadence', () => {
    const daily = { cron: '0 12 * * *', timezone: 'Europe/Prague' };
    const shortDay = Date.parse('2026-03-29T10:00:00Z');
    const daysBefore = (days: number) => new Date(shortDay - days * 86_400_000);
    expect(cadenceSeconds(daily, daysBefore(CADENCE_SLOTS_MAX - 2))).toBe(23 * 3_600);
    expect(cadenceSeconds(daily, daysBefore(CADENCE_SLOTS_MAX + 2))).toBe(24 * 3_600);
  });
});

it('a one-time slot is later than the given moment, and a slot at the end of a schedule is included', () => {
  const runAt = '2026-01-01T09:00:00.000Z';
  const once = { kind: 'once', runAt, timezone: 'UTC' } as const;
  expect([nextSlot(once, new Date('2026-01-01T08:59:59Z'))?.toISOString(), nextSlot(once, new Date(runAt))]).toEqual([
    runAt,
    undefined,
  ]);
  const until = { kind: 'recurring', cron: '0 * * * *', timezone: 'UTC', endAt: runAt } as const;
  expect(nextSlot(until, new Date('2026-01-01T08:00:00Z'))?.toISOString()).toBe(runAt);
  expect(nextSlot(until, new Date(runAt))).toBeUndefined();
});

it('a schedule that was stored with the short name of a time zone keeps its slots', () =>
  expect(first('0 7 * * *', '2026-01-01T00:00:00Z', 'PST')).toBe('2026-01-01T15:00:00.000Z'));

it.each([
  ['Europe/Prague', true],
  ['UTC', true],
  ['+02:00', false],
  ['-0500', false],
  ['Mars/Olympus', false],
  ['PST', false],
  ['2026-01-01T00:00[Europe/Prague]', false],
  ['', false],
])('whether %j is a time zone: %s', (text, is) => expect(isTimezone(text)).toBe(is));

it.each([
  ['2026-06-01T12:00', 'Europe/Prague', '2026-06-01T10:00:00.000Z'],
  ['2026-06-01', 'Europe/Prague', '2026-05-31T22:00:00.000Z'],
  ['2026-06-01T12:00:00+05:30', 'Europe/Prague', '2026-06-01T06:30:00.000Z'],
  ['2026-06-01T12:00:00.5Z', 'Europe/Prague', '2026-06-01T12:00:00.500Z'],
  // Many programs write a space instead of the T.
  ['2026-06-01 12:00:00+02:00', 'America/New_York', '2026-06-01T10:00:00.000Z'],
  ['2026-06-01 12:00:00Z', 'America/New_York', '2026-06-01T12:00:00.000Z'],
  ['2026-06-01 12:00', 'Europe/Prague', '2026-06-01T10:00:00.000Z'],
  // ISO 8601 has no time zones in brackets.
  ['2026-06-01T12:00:00+02:00[Europe/Paris]', 'America/New_York', undefined],
  ['2026-06-01T12:00:00[Europe/Paris]', 'America/New_York', undefined],
  // A skipped time, a repeated time, and a time skipped by a shift of half an hour.
  ['2026-03-29T02:30:00', 'Europe/Prague', '2026-03-29T01:00:00.000Z'],
  ['2026-10-25T02:30:00', 'Europe/Prague', '2026-10-25T00:30:00.000Z'],
  ['2026-10-04T02:15:00', 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
  // The first and last moments with a year of four digits, and moments beyond them.
  ['0001-01-01T00:00:00Z', 'UTC', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', 'UTC', '9999-12-31T23:59:59.999Z'],
  ['0001-01-01T00:00:00+00:01', 'UTC', undefined],
  ['9999-12-31T23:59:00-00:01', 'UTC', undefined],
  ['9999-12-31T23:59:59', 'America/New_York', undefined],
  ['+012026-01-01T00:00:00Z', 'UTC', undefined],
  ['-000043-03-15', 'UTC', undefined],
  ['tomorrow', 'UTC', undefined],
  ['2026-13-01T00:00:00Z', 'UTC', undefined],
  ['', 'UTC', undefined],
])('%j in the time zone %s is %s', (text, timezone, moment) => expect(momentOf(text, timezone)?.toISOString()).toBe(moment));
