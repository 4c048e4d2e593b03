import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cpuMsOf } from '../../../test/support/cpu-time.js';
import { given } from '../../../test/support/given.js';
import {
  gather,
  request,
  complete,
  type Completion,
  toGather,
  followUps,
  FOLLOW_UPS_PER_TURN_MAX,
  FOLLOW_UPS_WAITING_MAX,
  type FollowUpsOfConversation,
} from './follow-ups.decider.js';
import type { FollowUpRequested, FollowUpsEvent } from './follow-ups.events.js';

const conversationId = 'c1';
const followUp = (followUpId: string, more: Partial<FollowUpRequested['data']> = {}): FollowUpRequested['data'] => ({
  conversationId,
  followUpId,
  ownerId: 'alice',
  source: 'job',
  refId: 'j1',
  dedupeKey: `key ${followUpId}`,
  text: 'It is done.',
  ...more,
});
const requested = (followUpId: string, more: Partial<FollowUpRequested['data']> = {}): FollowUpsEvent => ({
  type: 'FollowUpRequested',
  data: followUp(followUpId, more),
});
const gathered = (turnId: string, ...followUpIds: string[]): FollowUpsEvent => ({
  type: 'FollowUpsGathered',
  data: { conversationId, turnId, followUpIds },
});
const delivered = (followUpId: string, turnId = 't1'): FollowUpsEvent => ({
  type: 'FollowUpDelivered',
  data: { conversationId, followUpId, turnId },
});
const folded = (followUpId: string, turnId = 't1'): FollowUpsEvent => ({
  type: 'FollowUpMerged',
  data: { conversationId, followUpId, turnId },
});
const asked: Completion = { status: 'asked' };
const many = (count: number) => Array.from({ length: count }, (_, index) => requested(`w${index}`));
const stateAfter = (...past: FollowUpsEvent[]) => past.reduce(followUps.evolve, followUps.initial);

describe('a follow-up', () => {
  it('is requested', () =>
    given(followUps, [])
      .when(request(followUp('w1')))
      .then([requested('w1')]));
  it('is requested once for each key, also after its delivery', () => {
    given(followUps, [requested('w1')])
      .when(request(followUp('w1', { text: 'Again.' })))
      .thenNothing();
    given(followUps, [requested('w1'), gathered('t1', 'w1'), delivered('w1')])
      .when(request(followUp('w1')))
      .thenNothing();
  });
  it('is found by its key in linear time, however many a conversation had', () => {
    const past = Array.from({ length: 30_000 }, (_, n) => [requested(`w${n}`), delivered(`w${n}`)]).flat();
    let again: readonly FollowUpsEvent[] = past;
    expect(cpuMsOf(() => (again = request(followUp('w0'))(stateAfter(...past))))).toBeLessThan(4_000);
    expect(again).toEqual([]);
  });
  it('is suppressed if too many wait', () => {
    given(followUps, many(FOLLOW_UPS_WAITING_MAX - 1))
      .when(request(followUp('w')))
      .then([requested('w')]);
    given(followUps, many(FOLLOW_UPS_WAITING_MAX))
      .when(request(followUp('w')))
      .then([
        requested('w'),
        { type: 'FollowUpSuppressed', data: { conversationId, followUpId: 'w', reason: 'too-many-waiting' } },
      ]);
  });
});

describe('the waiting follow-ups', () => {
  it('are reported together, at most FOLLOW_UPS_PER_TURN_MAX, the oldest first', () => {
    expect(toGather(stateAfter(requested('w1'), requested('w2')))).toEqual(['w1', 'w2']);
    expect(toGather(stateAfter(...many(FOLLOW_UPS_PER_TURN_MAX + 1)))).toEqual(
      many(FOLLOW_UPS_PER_TURN_MAX).map(({ data }) => 'followUpId' in data && data.followUpId),
    );
    expect(toGather(followUps.initial)).toEqual([]);
  });
  it('are not reported together with those of another owner', () =>
    expect(toGather(stateAfter(requested('w1'), requested('w2', { ownerId: 'mallory' }), requested('w3')))).toEqual([
      'w1',
      'w3',
    ]));
  it('are gathered once each, although one is named twice', () =>
    given(followUps, [requested('w1')])
      .when(gather({ conversationId, turnId: 't1', followUpIds: ['w1', 'w1'] }))
      .then([gathered('t1', 'w1')]));
  it('are gathered for one turn at a time', () => {
    const next = { conversationId, turnId: 't1', followUpIds: ['w1'] };
    given(followUps, [requested('w1')])
      .when(gather(next))
      .then([gathered('t1', 'w1')]);
    given(followUps, [requested('w1'), requested('w2'), gathered('t1', 'w1')])
      .when(gather({ conversationId, turnId: 't2', followUpIds: ['w1', 'w2'] }))
      .thenNothing();
    given(followUps, [requested('w1'), gathered('t1', 'w1'), delivered('w1'), requested('w2')])
      .when(gather(next))
      .thenNothing();
    given(followUps, [requested('w1'), gathered('t1', 'w1'), delivered('w1'), requested('w2')])
      .when(gather({ conversationId, turnId: 't2', followUpIds: ['w2'] }))
      .then([gathered('t2', 'w2')]);
  });
});

describe('the gathered follow-ups', () => {
  const past = [requested('w1'), requested('w2'), gathered('t1', 'w1', 'w2')];
  const about = (followUpId: string) => ({ conversationId, followUpId });
  it('are delivered with the first one and merged with its turn', () =>
    given(followUps, past)
      .when(complete('t1', asked))
      .then([delivered('w1'), folded('w2')]));
  it('are suppressed after too many automatic turns in a row', () =>
    given(followUps, past)
      .when(complete('t1', { status: 'too-many-in-a-row' }))
      .then(['w1', 'w2'].map((id) => ({ type: 'FollowUpSuppressed', data: { ...about(id), reason: 'too-many-in-a-row' } }))));
  it('are superseded if the conversation is deleted', () =>
    given(followUps, past)
      .when(complete('t1', { status: 'gone' }))
      .then(['w1', 'w2'].map((id) => ({ type: 'FollowUpSuperseded', data: about(id) }))));
  it('fail if the turn is refused', () =>
    given(followUps, past)
      .when(complete('t1', { status: 'refused', error: 'No.' }))
      .then(['w1', 'w2'].map((id) => ({ type: 'FollowUpFailed', data: { ...about(id), error: 'No.' } }))));
  it('get one outcome, from the turn that they were gathered for', () => {
    given(followUps, past).when(complete('t2', asked)).thenNothing();
    given(followUps, [...past, delivered('w1'), folded('w2')])
      .when(complete('t1', asked))
      .thenNothing();
  });
});

it('in any order of decisions a repeated decision adds nothing, and a follow-up has at most one outcome', () => {
  const followUpIds = Array.from({ length: 12 }, (_, index) => `w${index}`);
  const id = fc.constantFrom(...followUpIds);
  const turnId = fc.constantFrom('t1', 't2', 't3');
  const settlement = fc.constantFrom<Completion>(
    asked,
    { status: 'gone' },
    { status: 'too-many-in-a-row' },
    { status: 'refused', error: 'No.' },
  );
  const decision = fc.oneof(
    id.map((followUpId) => () => request(followUp(followUpId))),
    turnId.map(
      (turn) => (state: FollowUpsOfConversation) => gather({ conversationId, turnId: turn, followUpIds: toGather(state) }),
    ),
    fc.tuple(turnId, fc.array(id)).map(
      ([turn, ids]) =>
        () =>
          gather({ conversationId, turnId: turn, followUpIds: ids }),
    ),
    fc.tuple(turnId, settlement).map(
      ([turn, how]) =>
        () =>
          complete(turn, how),
    ),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 40 }), (decisions) => {
      let state = followUps.initial;
      const ends = new Map<string, number>();
      for (const decided of decisions) {
        const decide = decided(state);
        const events = decide(state);
        state = events.reduce(followUps.evolve, state);
        for (const { type, data } of events) {
          if (type === 'FollowUpRequested' || type === 'FollowUpsGathered') continue;
          ends.set(data.followUpId, (ends.get(data.followUpId) ?? 0) + 1);
        }
        expect(decide(state)).toEqual([]);
        for (const followUpId of state.gathered?.followUpIds ?? []) expect(state.pending.has(followUpId)).toBe(true);
      }
      for (const followUpId of state.pending.keys()) expect(ends.has(followUpId)).toBe(false);
      expect([...ends.values()].every((count) => count === 1)).toBe(true);
    }),
    { numRuns: 500 },
  );
});
