import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '../../../kernel/event-sourcing/event-store.js';
import { newId } from '../../../kernel/ids.js';
import { PAGE_EVENTS_MAX } from './event-rows.js';
import { RECENT_BYTES_MAX, RECENT_MS, RecentEvents } from './recent-events.js';

let now: number;
let recent: RecentEvents;

beforeEach(() => {
  now = 1_000_000;
  recent = new RecentEvents(() => now);
});

const event = (stream: string, revision: number, position: number, data = '{}'): StoredEvent => ({
  id: newId(),
  type: 'SomethingHappened',
  data,
  metadata: '{}',
  stream,
  revision,
  position: BigInt(position),
  at: new Date(now),
});

/** One append of `count` events. */
function commit(stream: string, revision: number, position: number, { count = 1, data = '{}' } = {}): StoredEvent[] {
  const events = Array.from({ length: count }, (_, index) => event(stream, revision + index, position + index, data));
  recent.add([events]);
  return events;
}

/** All events but frames, as most followers of the log want them. */
const ALL = { exceptCategories: ['message'] };

const positions = (page: { events: readonly StoredEvent[] } | undefined) => page?.events.map(({ position }) => Number(position));

describe('recent events of the log', () => {
  it('returns the events after a position that match the filter, and the position reached', () => {
    commit('a-1', 0, 10, { count: 2 });
    commit('b-1', 0, 12);
    expect(positions(recent.ofLog(9n, ALL))).toEqual([10, 11, 12]);
    expect(recent.ofLog(10n, { categories: ['c'] })).toEqual({ events: [], position: 12n, caughtUp: true });
    expect(positions(recent.ofLog(9n, { exceptCategories: ['a', 'message'] }))).toEqual([12]);
  });

  it('skips frames, and returns nothing for a filter that includes them', () => {
    commit('message-1', 0, 10, { count: 2 });
    expect(recent.ofLog(9n, ALL)).toEqual({ events: [], position: 11n, caughtUp: true });
    commit('a-1', 0, 12);
    commit('message-1', 2, 13);
    expect(recent.ofLog(9n, ALL)).toMatchObject({ events: [{ stream: 'a-1' }], position: 13n, caughtUp: true });
    expect(recent.ofLog(12n, ALL)).toEqual({ events: [], position: 13n, caughtUp: true });
    expect(recent.ofLog(9n, {})).toBeUndefined();
  });

  it.each([-3_600_000, 3_600_000])(
    'is held for its time by the clock of the process, which is %d ms off that of the server',
    (off) => {
      recent.add([[{ ...event('a-1', 0, 10), at: new Date(now - off) }]]);
      now += RECENT_MS;
      commit('a-1', 1, 11);
      expect(positions(recent.ofLog(9n, ALL))).toEqual([10, 11]);
      now += 1;
      commit('a-1', 2, 12);
      expect(recent.ofLog(9n, ALL)).toBeUndefined();
      expect(positions(recent.ofLog(10n, ALL))).toEqual([11, 12]);
    },
  );

  it('returns nothing for positions before the oldest and after the newest event', () => {
    commit('a-1', 0, 10);
    expect(recent.ofLog(8n, ALL)).toBeUndefined();
    expect(recent.ofLog(10n, ALL)).toBeUndefined();
  });

  it('starts again after a gap that another process has written', () => {
    commit('a-1', 0, 10);
    commit('a-1', 5, 15);
    expect(recent.ofLog(9n, ALL)).toBeUndefined();
    expect(recent.ofLog(10n, ALL)).toBeUndefined();
    expect(positions(recent.ofLog(14n, ALL))).toEqual([15]);
  });

  it('ignores events that it already holds', () => {
    commit('a-1', 0, 10, { count: 3 });
    commit('a-1', 0, 10, { count: 3 });
    expect(positions(recent.ofLog(9n, ALL))).toEqual([10, 11, 12]);
  });

  it('returns pages of a bounded size', () => {
    commit('a-1', 0, 0, { count: PAGE_EVENTS_MAX + 1 });
    expect(recent.ofLog(-1n, ALL)).toMatchObject({ position: BigInt(PAGE_EVENTS_MAX - 1), caughtUp: false });
  });
});

it('drops old events with the next append', () => {
  commit('a-1', 0, 10);
  now += RECENT_MS + 1;
  commit('b-1', 0, 11);
  expect(recent.ofLog(9n, ALL)).toBeUndefined();
  expect(positions(recent.ofLog(10n, ALL))).toEqual([11]);
});

it('holds a bounded number of bytes', () => {
  const data = 'x'.repeat(RECENT_BYTES_MAX / 16);
  for (let position = 0; position < 20; position++) commit('a-1', position, position, { data });
  const held = [...Array(20).keys()].filter((position) => recent.ofLog(BigInt(position) - 1n, ALL));
  expect(held.length).toBeGreaterThan(0);
  expect(held.length).toBeLessThan(8);
  expect(held.at(-1)).toBe(19);
});
