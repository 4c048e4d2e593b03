import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nextCheckAt } from './check-times.policy.js';

const MINUTE_MS = 60_000;
const from = new Date('2026-01-01T08:00:00Z');
const timing = { monitorId: 'm1', checkNumber: 1, intervalSeconds: 900, expiresAt: '2026-01-08T08:00:00.000Z' };

it('the time of a check is deterministic, and differs between monitors and checks', () => {
  expect(nextCheckAt(timing, from)).toBe(nextCheckAt({ ...timing }, new Date(from)));
  const times = new Set(
    ['m1', 'm2'].flatMap((monitorId) => [1, 2].map((checkNumber) => nextCheckAt({ ...timing, monitorId, checkNumber }, from))),
  );
  expect(times.size).toBe(4);
});

it('the next check is about one interval later and not within a minute of the full or half hour', () => {
  const any = fc.record({
    monitorId: fc.uuid(),
    checkNumber: fc.nat(10_000),
    intervalSeconds: fc.integer({ min: 60, max: 86_400 }),
  });
  fc.assert(
    fc.property(any, fc.nat(86_400_000), (asked, ms) => {
      const start = new Date(from.getTime() + ms);
      const next = Date.parse(nextCheckAt({ ...asked, expiresAt: '2030-01-01T00:00:00.000Z' }, start));
      const later = next - start.getTime();
      expect(later).toBeGreaterThanOrEqual(asked.intervalSeconds * 1000 - MINUTE_MS);
      expect(later).toBeLessThanOrEqual(asked.intervalSeconds * 1100 + 3 * MINUTE_MS);
      const sinceMark = next % (30 * MINUTE_MS);
      expect(Math.min(sinceMark, 30 * MINUTE_MS - sinceMark)).toBeGreaterThanOrEqual(MINUTE_MS);
    }),
  );
});

it('the next check is never after the monitor expires', () =>
  expect(nextCheckAt({ ...timing, expiresAt: '2026-01-01T08:05:00.000Z' }, from)).toBe('2026-01-01T08:05:00.000Z'));
