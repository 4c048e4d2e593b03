import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { momentIn } from './moments.js';

it.each(['yesterday', '', '0000-01-01T00:00:00Z', '+010000-01-01T00:00:00Z', '-000001-01-01T00:00:00Z', '+275760-09-13'])(
  'rejects a date that no store can keep, and names the field: %s',
  (text) => {
    expect(() => momentIn('before', text)).toThrow('before must be a date');
  },
);

it.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-01-31'])('accepts %s', (text) => {
  expect(momentIn('before', text)).toEqual(new Date(text));
});

describe('a time without an offset', () => {
  const zone = process.env['TZ'];
  beforeAll(() => void (process.env['TZ'] = 'America/New_York'));
  afterAll(() => (zone === undefined ? void delete process.env['TZ'] : void (process.env['TZ'] = zone)));

  it.each(['2026-01-31T10:00', '2026-01-31 10:00:00', '2026-01-31T10:00:00.000'])(
    'is in UTC, whatever the time zone of the machine: %s',
    (text) => {
      expect(new Date(2026, 0, 31, 10).toISOString()).toBe('2026-01-31T15:00:00.000Z');
      expect(momentIn('from', text).toISOString()).toBe('2026-01-31T10:00:00.000Z');
    },
  );
});
