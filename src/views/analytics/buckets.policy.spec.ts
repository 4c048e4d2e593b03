import { describe, expect, it } from '@jest/globals';
import { bucketsOf, filled } from './buckets.policy.js';

const now = new Date('2026-03-01T10:20:30.400Z');

describe('the buckets of a period', () => {
  it.each([
    ['last_hour', 61, '2026-03-01 09:20:00', '2026-03-01 10:20:00', '2026-03-01T09:20:30.400Z'],
    ['last_24_hour', 25, '2026-02-28 10:00', '2026-03-01 10:00', '2026-02-28T10:20:30.400Z'],
    ['last_7_days', 7, '2026-02-23', '2026-03-01', '2026-02-23T00:00:00.000Z'],
    ['last_15_days', 15, '2026-02-15', '2026-03-01', '2026-02-15T00:00:00.000Z'],
    ['last_30_days', 30, '2026-01-31', '2026-03-01', '2026-01-31T00:00:00.000Z'],
  ] as const)('for %s are %d in number', (option, count, first, last, since) => {
    const buckets = bucketsOf(option, now);
    expect([buckets.keys.length, buckets.keys[0], buckets.keys.at(-1)]).toEqual([count, first, last]);
    expect([buckets.since.toISOString(), buckets.until]).toEqual([since, now]);
    expect(new Set(buckets.keys).size).toBe(count);
  });

  it('are complete and in order, with the default value for those without a value', () => {
    const buckets = bucketsOf('last_7_days', now);
    const days = filled(buckets, new Map([['2026-02-28', 3], ['2020-01-01', 9]]), 0); // oxfmt-ignore
    expect(Object.entries(days)).toEqual(buckets.keys.map((key) => [key, key === '2026-02-28' ? 3 : 0]));
  });
});
