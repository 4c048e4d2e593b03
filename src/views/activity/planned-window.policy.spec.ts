import { expect, it } from '@jest/globals';
import { Rejection } from '../../kernel/rejection.js';
import { windowIn, type WindowRequest } from './planned-window.policy.js';

const NOW = new Date('2026-03-28T23:30:00Z');
const opened = (asked: WindowRequest) => {
  const { from, until, days } = windowIn(asked, NOW);
  return [from, until, days.length].map((each, index) => (index < 2 ? new Date(each).toISOString() : each));
};

it.each<[string, WindowRequest, readonly [string, string, number]]>([
  ['is a week from today by default', {}, ['2026-03-28T00:00:00.000Z', '2026-04-04T00:00:00.000Z', 7]],
  ['begins with today in the viewer’s time zone', { tz: 'Europe/Prague' }, ['2026-03-28T23:00:00.000Z', '2026-04-04T22:00:00.000Z', 7]],
  ['reads times as local times of its zone', { from: '2026-03-29T03:00', to: '2026-03-30', tz: 'Europe/Prague' }, ['2026-03-29T01:00:00.000Z', '2026-03-29T22:00:00.000Z', 1]],
  ['reads offsets as they are', { from: '2026-01-01T00:00:00+02:00', to: '2026-01-01T00:00:00Z', tz: 'Asia/Tokyo' }, ['2025-12-31T22:00:00.000Z', '2026-01-01T00:00:00.000Z', 1]],
  ['accepts an offset whose plus was not encoded', { from: '2026-01-01T00:00:00 02:00', to: '2026-01-01T00:00:00Z' }, ['2025-12-31T22:00:00.000Z', '2026-01-01T00:00:00.000Z', 1]],
  ['may be empty', { from: '2026-01-01', to: '2026-01-01' }, ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1]],
  ['may have 62 days', { from: '2026-01-01', to: '2026-03-04' }, ['2026-01-01T00:00:00.000Z', '2026-03-04T00:00:00.000Z', 62]],
  ['may have 62 days of which one is longer', { from: '2026-10-01', to: '2026-12-02', tz: 'Europe/Prague' }, ['2026-09-30T22:00:00.000Z', '2026-12-01T23:00:00.000Z', 62]],
  ['has a day that begins at one o’clock', { from: '2026-09-05T12:00', to: '2026-09-07', tz: 'America/Santiago' }, ['2026-09-05T16:00:00.000Z', '2026-09-07T03:00:00.000Z', 2]],
])('a window %s', (_, asked, expected) => expect(opened(asked)).toEqual(expected)); // oxfmt-ignore

it.each<[WindowRequest, string]>([
  [{ tz: 'Nowhere' }, 'unknown timezone'],
  [{ tz: '-05:00' }, 'unknown timezone'],
  [{ tz: ['UTC', 'UTC'] }, 'unknown timezone'],
  [{ tz: 'U'.repeat(201) }, 'unknown timezone'],
  [{ from: '2026-02-30' }, 'invalid from'],
  [{ from: ['2026-01-01'] }, 'invalid from'],
  [{ from: '1969-12-31' }, 'invalid from'],
  [{ from: '2026-01-01', to: '+010000-01-01' }, 'invalid to'],
  [{ from: '2026-01-02', to: '2026-01-01' }, 'to must not be before from'],
  [{ to: '2026-03-27' }, 'to must not be before from'],
  [{ from: '2026-01-01', to: '2026-03-04T00:00:00.001' }, 'the window must not be longer than 62 days'],
  [{ from: '2026-10-01', to: '2026-12-02T00:00:01', tz: 'Europe/Prague' }, 'the window must not be longer than 62 days'],
])('the window %j is refused', (asked, message) =>
  expect(() => windowIn(asked, NOW)).toThrow(new Rejection('invalid-request', message)),
);
