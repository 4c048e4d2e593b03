import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { clockPieces } from '../../src/views/activity/clock-pieces.policy.js';
import { planOf } from '../../src/views/activity/cron-plan.policy.js';
import { RecurrenceSlots, type SlotSum } from '../../src/views/activity/recurrence-slots.policy.js';
import { slotsBetween } from '../../src/triggers/schedules/schedule/slots.policy.js';
import { DAYS, recurrences } from './recurrence-oracle.js';

const DAY_MS = 86_400_000;
const ZONES = ['Europe/Prague', 'America/Santiago', 'Australia/Lord_Howe', 'UTC', 'Asia/Kolkata'] as const;
const zones = fc.constantFrom(...ZONES);

const slotsOf = (cron: string, timezone: string, from: number, until: number) =>
  new RecurrenceSlots(planOf(cron), clockPieces(timezone, from, until));

/** The enumerated slots, including the start and excluding the end. */
const enumerated = (cron: string, timezone: string, from: number, until: number): readonly number[] =>
  slotsBetween({ kind: 'recurring', cron, timezone, endAt: null }, new Date(from - 1), new Date(until - 1), Infinity).map(Number);

const summed = (slots: readonly number[]): SlotSum | undefined =>
  slots.length === 0 ? undefined : { count: slots.length, first: slots[0]!, last: slots.at(-1)! };

describe.each(Object.entries(DAYS))('%s', (_, window) => {
  it('has the same slots and sums as a check of every minute', () => {
    fc.assert(
      fc.property(recurrences, (fields) => {
        const { timezone, from, until } = window;
        const slots = slotsOf(fields.join(' '), timezone, from + 1, until + 1);
        const expected = window.slots(fields).map((slot) => Date.parse(slot));
        expect([...slots.between(from + 1, until + 1)]).toEqual(expected);
        expect(slots.sum(from + 1, until + 1)).toEqual(summed(expected));
      }),
      { numRuns: 150 },
    );
  });

  it('has the same slots as stepwise enumeration, for any part of it', () => {
    const moments = fc.integer({ min: window.from, max: window.until });
    fc.assert(
      fc.property(recurrences, moments, moments, (fields, one, other) => {
        const [from, until] = [Math.min(one, other), Math.max(one, other)];
        const cron = fields.join(' ');
        const slots = [...slotsOf(cron, window.timezone, from, until).between(from, until)];
        expect(slots).toEqual(enumerated(cron, window.timezone, from, until));
      }),
      { numRuns: 60 },
    );
  });
});

it('sums the days of a viewer in another zone like enumeration, across every clock change of both zones', () => {
  const starts = fc.integer({ min: Date.parse('2026-01-01T00:00:00Z'), max: Date.parse('2027-12-01T00:00:00Z') });
  fc.assert(
    fc.property(recurrences, zones, zones, starts, (fields, timezone, viewer, from) => {
      const cron = fields.join(' ');
      const until = from + 10 * DAY_MS;
      const slots = slotsOf(cron, timezone, from, until);
      const perDay = new Map<string, number[]>();
      for (const slot of enumerated(cron, timezone, from, until)) {
        const day = Temporal.Instant.fromEpochMilliseconds(slot).toZonedDateTimeISO(viewer).toPlainDate().toString();
        perDay.set(day, [...(perDay.get(day) ?? []), slot]);
      }
      let day = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(viewer).startOfDay();
      for (; day.epochMilliseconds < until; day = day.add({ days: 1 }).startOfDay()) {
        const next = day.add({ days: 1 }).startOfDay();
        const sum = slots.sum(Math.max(from, day.epochMilliseconds), Math.min(until, next.epochMilliseconds));
        expect(sum).toEqual(summed(perDay.get(day.toPlainDate().toString()) ?? []));
      }
    }),
    { numRuns: 60 },
  );
});

it.each([
  '0 9 L * *',
  '0 9 LW * *',
  '0 9 15W * *',
  '30 8 * * 1#2',
  '0 9 * * FRI',
  '15 6 13 * +5',
  '0 0 29 2 *',
  '0 9 1 JAN-MAR 7',
])('covers the days of %s', (cron) => {
  const [from, until] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2028-03-05T00:00:00Z')];
  const slots = [...slotsOf(cron, 'Europe/Prague', from, until).between(from, until)];
  expect(slots).toEqual(enumerated(cron, 'Europe/Prague', from, until));
  expect(slots.length).toBeGreaterThan(0);
});

it('counts 62 days of minutely slots, day by day', () => {
  const from = Date.parse('2026-03-01T00:00:00Z');
  const slots = slotsOf('* * * * *', 'Europe/Prague', from, from + 62 * DAY_MS);
  const counts = Array.from({ length: 62 }, (_, day) => slots.sum(from + day * DAY_MS, from + (day + 1) * DAY_MS)!.count);
  expect(counts).toEqual(Array.from({ length: 62 }, () => 1_440));
});
