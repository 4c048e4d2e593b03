import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../test/support/given.js';
import { cause } from '../../../test/support/turns.js';
import type { ExpiredFollowUpsEvent } from './expired-follow-ups.events.js';
import { expiredFollowUps, expireFollowUps } from './expired-follow-ups.decider.js';
import { oldFollowUps } from './old-follow-ups.policy.js';
import type { FollowUpsEvent } from './follow-ups.events.js';

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const conversationId = 'c';
const requested = (followUpId: string): FollowUpsEvent => ({
  type: 'FollowUpRequested',
  data: { conversationId, followUpId, ownerId: 'ann', source: 'job', refId: 'j', dedupeKey: followUpId, text: '' },
});
const gathered = (...followUpIds: string[]): FollowUpsEvent => ({
  type: 'FollowUpsGathered',
  data: { conversationId, turnId: 't', followUpIds },
});
const delivered = (followUpId: string): FollowUpsEvent => ({
  type: 'FollowUpDelivered',
  data: { conversationId, followUpId, turnId: 't' },
});
const stream = (...events: readonly (readonly [number, FollowUpsEvent])[]) =>
  events.map(([at, event], revision) => ({
    ...event,
    id: String(revision),
    stream: 'followUps-c',
    revision,
    position: BigInt(revision),
    at: day(at),
    cause,
  }));

describe('old follow-ups', () => {
  it('are those with an outcome before a time, up to the first without one', () => {
    const events = stream(
      [1, requested('a')],
      [1, gathered('a')],
      [2, delivered('a')],
      [3, requested('b')],
      [4, requested('c')],
      [5, delivered('b')],
      [6, delivered('c')],
    );
    expect(oldFollowUps(events, day(9))).toEqual({ followUpIds: ['a', 'b', 'c'], before: 7 });
    expect(oldFollowUps(events, day(6))).toEqual({ followUpIds: ['a'], before: 3 });
    expect(oldFollowUps(events, day(2))).toEqual({ followUpIds: [], before: 0 });
    expect(oldFollowUps(events.slice(0, 6), day(9))).toEqual({ followUpIds: ['a'], before: 3 });
    expect(oldFollowUps(events.slice(3), day(9))).toEqual({ followUpIds: ['b', 'c'], before: 7 });
    expect(oldFollowUps([], day(9))).toEqual({ followUpIds: [], before: 0 });
  });

  it('expire once', () => {
    const now = day(20);
    const expired = (from: number, before: number, ...followUpIds: string[]): ExpiredFollowUpsEvent => ({
      type: 'FollowUpsExpired',
      data: { conversationId, followUpIds, from, before, expiredAt: now.toISOString() },
    });
    const expire = (before: number, ...followUpIds: string[]) => expireFollowUps(conversationId, { followUpIds, before }, now);
    given(expiredFollowUps, [])
      .when(expire(3, 'a'))
      .then([expired(0, 3, 'a')]);
    given(expiredFollowUps, [expired(0, 3, 'a')])
      .when(expire(7, 'b'))
      .then([expired(3, 7, 'b')]);
    given(expiredFollowUps, [expired(0, 3, 'a')])
      .when(expire(3, 'a'))
      .thenNothing();
    given(expiredFollowUps, []).when(expire(0)).thenNothing();
  });

  it('expire in consecutive ranges', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 12 }), (asked) => {
        let state = expiredFollowUps.initial;
        for (const before of asked) {
          const decide = expireFollowUps(conversationId, { followUpIds: [], before }, day(1));
          const events = decide(state);
          for (const { data } of events) expect([data.from, data.before > data.from]).toEqual([state.before, true]);
          state = events.reduce(expiredFollowUps.evolve, state);
          expect(decide(state)).toEqual([]);
        }
      }),
    );
  });
});
