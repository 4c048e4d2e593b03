import { describe, expect, it } from '@jest/globals';
import { isUsedUp, limitExceeded, periodAt, quotaExceeded, type QuotaPeriod, secondsUntil } from './limits.policy.js';

const at = (time: string) => new Date(`${time}Z`);

describe('the period of a quota', () => {
  it.each<[QuotaPeriod, string, string, string]>([
    ['day', '2026-11-21T00:00:00.000', '2026-11-21T00:00:00', '2026-11-22T00:00:00'],
    ['day', '2026-12-31T23:59:59.999', '2026-12-31T00:00:00', '2027-01-01T00:00:00'],
    // A Saturday, the Sunday after, and the Monday that begins the next week.
    ['week', '2026-11-21T10:00:00', '2026-11-16T00:00:00', '2026-11-23T00:00:00'],
    ['week', '2026-11-22T23:59:59.999', '2026-11-16T00:00:00', '2026-11-23T00:00:00'],
    ['week', '2026-11-23T00:00:00', '2026-11-23T00:00:00', '2026-11-30T00:00:00'],
    ['week', '2027-01-01T12:00:00', '2026-12-28T00:00:00', '2027-01-04T00:00:00'],
    ['month', '2026-11-30T23:59:59.999', '2026-11-01T00:00:00', '2026-12-01T00:00:00'],
    ['month', '2026-12-01T00:00:00', '2026-12-01T00:00:00', '2027-01-01T00:00:00'],
    ['month', '2028-02-29T12:00:00', '2028-02-01T00:00:00', '2028-03-01T00:00:00'],
  ])('of kind %s at %s lasts from %s to %s', (period, now, start, end) =>
    expect(periodAt(at(now), period)).toEqual({ start: at(start), end: at(end) }),
  );
});

it.each([
  ['2026-11-21T10:00:00.001', 1],
  ['2026-11-21T10:00:01', 1],
  ['2026-11-21T10:00:01.001', 2],
  ['2026-11-21T09:00:00', 1],
])('the wait until %s is rounded up to whole seconds and is at least one: %d', (then, seconds) =>
  expect(secondsUntil(at(then), at('2026-11-21T10:00:00'))).toBe(seconds),
);

it.each([
  [99, false],
  [100, true],
  [101, true],
])('a quota of 100 with %d used is used up: %s', (used, expected) =>
  expect(isUsedUp({ used, limit: 100, resetsAt: at('2026-12-01T00:00:00') })).toBe(expected),
);

it('a quota of 0 is used up from the start', () =>
  expect(isUsedUp({ used: 0, limit: 0, resetsAt: at('2026-12-01T00:00:00') })).toBe(true));

it('the rejection of a usage limit has the message that clients expect', () =>
  expect(limitExceeded(17)).toMatchObject({
    code: 'usage-limit',
    message: 'Exceeding usage limit, please try again later.',
    details: undefined,
    retryAfterSeconds: 17,
  }));

it('the rejection of a quota says what is used, what the limit is and when the quota is renewed', () => {
  const status = { used: 1234567, limit: 1000000, resetsAt: at('2026-12-01T00:00:00') };
  const rejection = quotaExceeded(status, at('2026-11-30T23:59:00'));
  expect(rejection.message).toBe(
    'The usage quota is used up: 1,234,567 of 1,000,000 tokens. It is renewed at 2026-12-01T00:00:00.000Z.',
  );
  expect(rejection.retryAfterSeconds).toBe(60);
  expect(rejection.details).toEqual({
    error_code: 'quota_exceeded',
    limit_scope: 'user_quota',
    dimension: 'tokens',
    unit: 'tokens',
    usage: 1234567,
    limit: 1000000,
    bucket: 'all',
    source: 'instance',
    resets_at: '2026-12-01T00:00:00.000Z',
  });
});
