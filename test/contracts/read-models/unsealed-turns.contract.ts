import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PausedTurn, UnsealedTurnQueries } from '../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { type ConversationEvent, conversationStream } from '../../../src/dialogue/conversation/conversation.events.js';
import { turnPaused, turnResumed, turnUnresumed, waitingCall } from '../../support/pauses.js';
import { settings } from '../../support/turns.js';
import type { ReadModelUnderTest } from './read-model.subject.js';

const asked = (conversationId: string, turnId: string): ConversationEvent => ({
  type: 'TurnAsked',
  data: { conversationId, turnId, index: 0, question: 'Why?', requestId: 'r', settings },
});
const taken = (conversationId: string, turnId: string, producer: string): ConversationEvent => ({
  type: 'TurnStarted',
  data: { conversationId, turnId, producer },
});
const sealed = (conversationId: string, turnId: string): ConversationEvent => ({
  type: 'TurnSealed',
  data: { conversationId, turnId, lastId: 1, frames: 2, sha256: 'ab' },
});

const paused = (conversationId: string, turnId: string, expiresAt: Date): ConversationEvent =>
  turnPaused({ conversationId, turnId }, [waitingCall('k1'), waitingCall('k2')], { expiresAt: expiresAt.toISOString() });
const answered = (conversationId: string, turnId: string): ConversationEvent =>
  turnUnresumed({ conversationId, turnId }, 'expired').at(-1)!;
const ofPaused = ({ turnId }: { turnId: string }) => turnId.startsWith('p-');

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const idsOf = (turns: readonly { turnId: string }[]) => turns.map(({ turnId }) => turnId);

/** The contract of the queries for turns that are not complete. */
export function unsealedTurnsContract(setUp: () => Promise<ReadModelUnderTest<UnsealedTurnQueries>>): void {
  let state: ReadModelUnderTest<UnsealedTurnQueries>;
  let queries: UnsealedTurnQueries;
  const given = (second: number, id: string, ...events: ConversationEvent[]) =>
    state.given(conversationStream(id), events, { at: at(second) });

  beforeAll(async () => {
    state = await setUp();
    ({ queries } = state);
    await given(1, 'c1', asked('c1', 'waiting'));
    await given(2, 'c2', asked('c2', 'waiting too'));
    await given(3, 'c3', asked('c3', 'first of p1'), taken('c3', 'first of p1', 'p1'));
    await given(4, 'c4', asked('c4', 'second of p1'), taken('c4', 'second of p1', 'p1'));
    await given(5, 'c5', asked('c5', 'of p2'), taken('c5', 'of p2', 'p2'));
    await given(6, 'c6', asked('c6', 'done'), taken('c6', 'done', 'p3'), sealed('c6', 'done'));
    await given(7, 'c1', { type: 'ConversationDeleted', data: { conversationId: 'c1' } });
  });
  afterAll(() => state.close());

  it('finds unclaimed turns, even of a deleted conversation, because their streams need an end', async () => {
    expect(idsOf(await queries.untaken(10))).toEqual(['waiting', 'waiting too']);
    expect(idsOf(await queries.untaken(1))).toEqual(['waiting']);
  });

  const producers = async () => [...(await queries.taken(10)).producers].sort();

  it('finds the producers of turns that are not complete', async () => {
    expect(await producers()).toEqual(['p1', 'p2']);
  });

  it('finds the turns of producers, except those known to be running', async () => {
    expect(idsOf(await queries.takenBy(['p1', 'p2'], ['second of p1'], 10))).toEqual(['first of p1', 'of p2']);
    expect(idsOf(await queries.takenBy(['p1'], [], 1))).toEqual(['first of p1']);
    expect(await queries.takenBy([], [], 10)).toEqual([]);
  });

  describe('a paused turn', () => {
    const about = (id: string) => ({ conversationId: id, turnId: `p-${id}` });
    const wait = (second: number, id: string, until: Date) =>
      given(second, id, asked(id, `p-${id}`), taken(id, `p-${id}`, 'p8'), paused(id, `p-${id}`, until));
    const untaken = async () => (await queries.untaken(10)).filter(ofPaused).map(({ turnId }) => turnId);
    const expired = async (now: Date, limit = 10) => idsOf(await queries.expired(now, limit));

    const pauses = async (after?: PausedTurn, limit = 10) =>
      (await queries.taken(limit, after)).paused.map(({ turnId, producer, pausedUntil }) => [turnId, producer, pausedUntil]);

    it('is found when it expires, first expiry first, and with its producer until its stream is complete', async () => {
      await wait(11, 'c11', at(50));
      await wait(12, 'c12', at(40));
      expect(await untaken()).toEqual([]);
      expect(await queries.takenBy(['p8'], [], 10)).toEqual([]);
      expect(await pauses()).toEqual([
        ['p-c12', 'p8', at(40)],
        ['p-c11', 'p8', at(50)],
      ]);
      expect(await expired(at(39))).toEqual([]);
      expect(await expired(at(40))).toEqual(['p-c12']);
      expect(await expired(at(50))).toEqual(['p-c12', 'p-c11']);
      expect(await expired(at(50), 1)).toEqual(['p-c12']);
    });

    it('is found in pages, by its expiry and then by its id', async () => {
      await wait(12, 'c10', at(40));
      const { paused: first, producers: others } = await queries.taken(1);
      expect([idsOf(first), [...others].sort()]).toEqual([['p-c10'], ['p1', 'p2']]);
      expect(await pauses(first[0], 1)).toEqual([['p-c12', 'p8', at(40)]]);
      expect(idsOf((await queries.taken(2, first[0])).paused)).toEqual(['p-c12', 'p-c11']);
      await given(12, 'c10', sealed('c10', 'p-c10'));
    });

    it('is unclaimed once it was resumed, and paused anew when it pauses again', async () => {
      await given(13, 'c11', ...turnResumed(about('c11'), 'k1', 'k2'));
      expect(await untaken()).toEqual(['p-c11']);
      await given(14, 'c11', taken('c11', 'p-c11', 'p9'));
      expect([await untaken(), await expired(at(60)), await producers()]).toEqual([
        [],
        ['p-c12'],
        expect.arrayContaining(['p9']),
      ]);
      await given(15, 'c11', { type: 'TurnRequeued', data: { ...about('c11'), producer: 'p9' } });
      expect([await untaken(), idsOf(await queries.takenBy(['p9'], [], 10))]).toEqual([['p-c11'], []]);
      await given(16, 'c11', taken('c11', 'p-c11', 'p7'), paused('c11', 'p-c11', at(45)));
      expect([await untaken(), await expired(at(60))]).toEqual([[], ['p-c12', 'p-c11']]);
    });

    it('is unclaimed once it expired or the conversation continued, because its stream needs an end', async () => {
      await given(17, 'c12', ...turnUnresumed(about('c12'), 'expired', 'k1', 'k2'));
      await given(18, 'c11', ...turnUnresumed(about('c11'), 'moved_on', 'k1', 'k2'), asked('c11', 'c11-next'));
      expect([await untaken(), await expired(at(60))]).toEqual([['p-c12', 'p-c11'], []]);
      await given(19, 'c12', sealed('c12', 'p-c12'));
      expect(await untaken()).toEqual(['p-c11']);
    });

    it('is unclaimed once its conversation is deleted, unlike running turns of the same conversation', async () => {
      await wait(20, 'c13', at(50));
      await wait(20, 'c14', at(50));
      await given(21, 'c13', asked('c13', 'p-running'), taken('c13', 'p-running', 'p6'));
      await given(22, 'c13', { type: 'ConversationDeleted', data: { conversationId: 'c13' } });
      expect([await untaken(), await expired(at(60))]).toEqual([['p-c11', 'p-c13'], ['p-c14']]);
      expect(idsOf(await queries.takenBy(['p6'], [], 10))).toEqual(['p-running']);
      expect(idsOf(await queries.takenBy(['p6', 'p8'], [], 10))).toEqual(['p-running']);
      expect(await pauses()).toEqual([['p-c14', 'p8', at(50)]]);
    });

    it('remains with its producer when it is answered without a pause', async () => {
      await given(23, 'c13', answered('c13', 'p-running'));
      expect(idsOf(await queries.takenBy(['p6'], [], 10))).toEqual(['p-running']);
      expect(await untaken()).not.toContain('p-running');
    });
  });

  it('finds which of some conversations have running turns', async () => {
    expect(await queries.conversationsUnderWay(['c2', 'c6', 'c14', 'nowhere'])).toEqual(new Set(['c2']));
  });
}
