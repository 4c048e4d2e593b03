import { expect, it } from '@jest/globals';
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
