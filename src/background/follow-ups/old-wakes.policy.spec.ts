import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../test/support/given.js';
import { cause } from '../../../test/support/turns.js';
import type { ExpiredWakesEvent } from './expired-wakes.events.js';
import { expiredWakes, expireWakes } from './expired-wakes.decider.js';
import { oldWakes } from './old-wakes.policy.js';
import type { WakesEvent } from './wakes.events.js';

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const conversationId = 'c';
const requested = (wakeId: string): WakesEvent => ({
  type: 'WakeRequested',
  data: { conversationId, wakeId, ownerId: 'ann', source: 'job', refId: 'j', dedupeKey: wakeId, text: '' },
});
const gathered = (...wakeIds: string[]): WakesEvent => ({
  type: 'WakesGathered',
  data: { conversationId, turnId: 't', wakeIds },
});
const delivered = (wakeId: string): WakesEvent => ({ type: 'WakeDelivered', data: { conversationId, wakeId, turnId: 't' } });
const stream = (...events: readonly (readonly [number, WakesEvent])[]) =>
  events.map(([at, event], revision) => ({
    ...event,
    id: String(revision),
    stream: 'wakes-c',
    revision,
    position: BigInt(revision),
    at: day(at),
    cause,
  }));

describe('old wakes', () => {
  it('are those that were settled before a time, up to the first that was not', () => {
    const events = stream(
      [1, requested('a')],
      [1, gathered('a')],
      [2, delivered('a')],
      [3, requested('b')],
      [4, requested('c')],
      [5, delivered('b')],
      [6, delivered('c')],
    );
    expect(oldWakes(events, day(9))).toEqual({ wakeIds: ['a', 'b', 'c'], before: 7 });
    expect(oldWakes(events, day(6))).toEqual({ wakeIds: ['a'], before: 3 });
    expect(oldWakes(events, day(2))).toEqual({ wakeIds: [], before: 0 });
    expect(oldWakes(events.slice(0, 6), day(9))).toEqual({ wakeIds: ['a'], before: 3 });
    expect(oldWakes(events.slice(3), day(9))).toEqual({ wakeIds: ['b', 'c'], before: 7 });
    expect(oldWakes([], day(9))).toEqual({ wakeIds: [], before: 0 });
  });

  it('expire once', () => {
    const now = day(20);
    const expired = (from: number, before: number, ...wakeIds: string[]): ExpiredWakesEvent => ({
      type: 'WakesExpired',
      data: { conversationId, wakeIds, from, before, expiredAt: now.toISOString() },
    });
    const expire = (before: number, ...wakeIds: string[]) => expireWakes(conversationId, { wakeIds, before }, now);
    given(expiredWakes, [])
      .when(expire(3, 'a'))
      .then([expired(0, 3, 'a')]);
    given(expiredWakes, [expired(0, 3, 'a')])
      .when(expire(7, 'b'))
      .then([expired(3, 7, 'b')]);
    given(expiredWakes, [expired(0, 3, 'a')])
      .when(expire(3, 'a'))
      .thenNothing();
    given(expiredWakes, []).when(expire(0)).thenNothing();
  });

  it('only ever go on from where they were', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 12 }), (asked) => {
        let state = expiredWakes.initial;
        for (const before of asked) {
          const decide = expireWakes(conversationId, { wakeIds: [], before }, day(1));
          const events = decide(state);
          for (const { data } of events) expect([data.from, data.before > data.from]).toEqual([state.before, true]);
          state = events.reduce(expiredWakes.evolve, state);
          expect(decide(state)).toEqual([]);
        }
      }),
    );
  });
});
