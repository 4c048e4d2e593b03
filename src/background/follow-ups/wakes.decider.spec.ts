import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../test/support/given.js';
import {
  gather,
  request,
  settle,
  type Settlement,
  toGather,
  wakes,
  WAKES_PER_TURN_MAX,
  WAKES_WAITING_MAX,
  type WakesOfConversation,
} from './wakes.decider.js';
import type { WakeRequested, WakesEvent } from './wakes.events.js';

const conversationId = 'c1';
const wake = (wakeId: string, more: Partial<WakeRequested['data']> = {}): WakeRequested['data'] => ({
  conversationId,
  wakeId,
  ownerId: 'alice',
  source: 'job',
  refId: 'j1',
  dedupeKey: `key ${wakeId}`,
  text: 'It is done.',
  ...more,
});
const requested = (wakeId: string, more: Partial<WakeRequested['data']> = {}): WakesEvent => ({
  type: 'WakeRequested',
  data: wake(wakeId, more),
});
const gathered = (turnId: string, ...wakeIds: string[]): WakesEvent => ({
  type: 'WakesGathered',
  data: { conversationId, turnId, wakeIds },
});
const delivered = (wakeId: string, turnId = 't1'): WakesEvent => ({
  type: 'WakeDelivered',
  data: { conversationId, wakeId, turnId },
});
const folded = (wakeId: string, turnId = 't1'): WakesEvent => ({ type: 'WakeFolded', data: { conversationId, wakeId, turnId } });
const asked: Settlement = { standing: 'asked' };
const many = (count: number) => Array.from({ length: count }, (_, index) => requested(`w${index}`));
const stateAfter = (...past: WakesEvent[]) => past.reduce(wakes.evolve, wakes.initial);

describe('a wake', () => {
  it('is requested', () =>
    given(wakes, [])
      .when(request(wake('w1')))
      .then([requested('w1')]));
  it('is one, however often the same is said, also when it was told long ago', () => {
    given(wakes, [requested('w1')])
      .when(request(wake('w1', { text: 'Again.' })))
      .thenNothing();
    given(wakes, [requested('w1'), gathered('t1', 'w1'), delivered('w1')])
      .when(request(wake('w1')))
      .thenNothing();
  });
  it('is suppressed where too many wait', () => {
    given(wakes, many(WAKES_WAITING_MAX - 1))
      .when(request(wake('w')))
      .then([requested('w')]);
    given(wakes, many(WAKES_WAITING_MAX))
      .when(request(wake('w')))
      .then([requested('w'), { type: 'WakeSuppressed', data: { conversationId, wakeId: 'w', reason: 'too-many-waiting' } }]);
  });
});

describe('what waits', () => {
  it('is told together, up to so many, the oldest first', () => {
    expect(toGather(stateAfter(requested('w1'), requested('w2')))).toEqual(['w1', 'w2']);
    expect(toGather(stateAfter(...many(WAKES_PER_TURN_MAX + 1)))).toEqual(
      many(WAKES_PER_TURN_MAX).map(({ data }) => 'wakeId' in data && data.wakeId),
    );
    expect(toGather(wakes.initial)).toEqual([]);
  });
  it('is not told together with what is somebody else’s', () =>
    expect(toGather(stateAfter(requested('w1'), requested('w2', { ownerId: 'mallory' }), requested('w3')))).toEqual([
      'w1',
      'w3',
    ]));
  it('is told once in a turn, however often it is named', () =>
    given(wakes, [requested('w1')])
      .when(gather({ conversationId, turnId: 't1', wakeIds: ['w1', 'w1'] }))
      .then([gathered('t1', 'w1')]));
  it('is gathered for one turn at a time', () => {
    const next = { conversationId, turnId: 't1', wakeIds: ['w1'] };
    given(wakes, [requested('w1')])
      .when(gather(next))
      .then([gathered('t1', 'w1')]);
    given(wakes, [requested('w1'), requested('w2'), gathered('t1', 'w1')])
      .when(gather({ conversationId, turnId: 't2', wakeIds: ['w1', 'w2'] }))
      .thenNothing();
    given(wakes, [requested('w1'), gathered('t1', 'w1'), delivered('w1'), requested('w2')])
      .when(gather(next))
      .thenNothing();
    given(wakes, [requested('w1'), gathered('t1', 'w1'), delivered('w1'), requested('w2')])
      .when(gather({ conversationId, turnId: 't2', wakeIds: ['w2'] }))
      .then([gathered('t2', 'w2')]);
  });
});

describe('what was gathered', () => {
  const past = [requested('w1'), requested('w2'), gathered('t1', 'w1', 'w2')];
  const about = (wakeId: string) => ({ conversationId, wakeId });
  it('is delivered, the others in the turn of the first', () =>
    given(wakes, past)
      .when(settle('t1', asked))
      .then([delivered('w1'), folded('w2')]));
  it('is suppressed where the conversation went on by itself too often', () =>
    given(wakes, past)
      .when(settle('t1', { standing: 'too-many-in-a-row' }))
      .then(['w1', 'w2'].map((id) => ({ type: 'WakeSuppressed', data: { ...about(id), reason: 'too-many-in-a-row' } }))));
  it('is superseded where the conversation is gone', () =>
    given(wakes, past)
      .when(settle('t1', { standing: 'gone' }))
      .then(['w1', 'w2'].map((id) => ({ type: 'WakeSuperseded', data: about(id) }))));
  it('has failed where the conversation cannot go on', () =>
    given(wakes, past)
      .when(settle('t1', { standing: 'refused', error: 'No.' }))
      .then(['w1', 'w2'].map((id) => ({ type: 'WakeFailed', data: { ...about(id), error: 'No.' } }))));
  it('is settled once, by whoever asked that turn', () => {
    given(wakes, past).when(settle('t2', asked)).thenNothing();
    given(wakes, [...past, delivered('w1'), folded('w2')])
      .when(settle('t1', asked))
      .thenNothing();
  });
});

it('whatever is decided, each decision repeated at once adds nothing, and nothing becomes of a wake twice', () => {
  const wakeIds = Array.from({ length: 12 }, (_, index) => `w${index}`);
  const id = fc.constantFrom(...wakeIds);
  const turnId = fc.constantFrom('t1', 't2', 't3');
  const settlement = fc.constantFrom<Settlement>(
    asked,
    { standing: 'gone' },
    { standing: 'too-many-in-a-row' },
    { standing: 'refused', error: 'No.' },
  );
  const decision = fc.oneof(
    id.map((wakeId) => () => request(wake(wakeId))),
    turnId.map((turn) => (state: WakesOfConversation) => gather({ conversationId, turnId: turn, wakeIds: toGather(state) })),
    fc.tuple(turnId, fc.array(id)).map(
      ([turn, ids]) =>
        () =>
          gather({ conversationId, turnId: turn, wakeIds: ids }),
    ),
    fc.tuple(turnId, settlement).map(
      ([turn, how]) =>
        () =>
          settle(turn, how),
    ),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 40 }), (decisions) => {
      let state = wakes.initial;
      const ends = new Map<string, number>();
      for (const decided of decisions) {
        const decide = decided(state);
        const events = decide(state);
        state = events.reduce(wakes.evolve, state);
        for (const { type, data } of events) {
          if (type === 'WakeRequested' || type === 'WakesGathered') continue;
          ends.set(data.wakeId, (ends.get(data.wakeId) ?? 0) + 1);
        }
        expect(decide(state)).toEqual([]);
        for (const wakeId of state.gathered?.wakeIds ?? []) expect(state.pending.has(wakeId)).toBe(true);
      }
      for (const wakeId of state.pending.keys()) expect(ends.has(wakeId)).toBe(false);
      expect([...ends.values()].every((count) => count === 1)).toBe(true);
    }),
    { numRuns: 500 },
  );
});
