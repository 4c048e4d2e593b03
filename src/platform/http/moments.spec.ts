import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
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

it('a time without an offset is in UTC, whatever the time zone of the machine', () => {
  const times = ['2026-01-31T10:00', '2026-01-31 10:00:00', '2026-01-31T10:00:00.000'];
  const program = `
    import { momentIn } from './src/platform/http/moments.js';
    const parsed = ${JSON.stringify(times)}.map((text) => momentIn('from', text));
    console.log([new Date(2026, 0, 31, 10), ...parsed].map((moment) => moment.toISOString()).join());`;
  const args = ['--import', './test/support/typescript.js', '--input-type=module', '-e', program];
  const shown = execFileSync(process.execPath, args, { env: { TZ: 'America/New_York' }, encoding: 'utf8' });
  expect(shown.trim().split(',')).toEqual(['2026-01-31T15:00:00.000Z', ...times.map(() => '2026-01-31T10:00:00.000Z')]);
});
