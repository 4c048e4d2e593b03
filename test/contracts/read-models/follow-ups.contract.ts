import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { FollowUpQueries } from '../../../projections/follow-ups/follow-ups.queries.js';
import { type ConversationEvent, conversationStream } from '../../../src/dialogue/conversation/conversation.events.js';
import { type FollowUpsEvent, followUpsStream } from '../../../src/background/follow-ups/follow-ups.events.js';
import { turnPaused, waitingCall } from '../../support/pauses.js';
import { turnSettings } from '../../support/turn-settings.js';
import type { ReadModelUnderTest } from './read-model.subject.js';
import { at, requested, gathered } from './follow-ups.given.js';

const about = (conversationId: string, turnId: string) => ({ conversationId, turnId });
const asked = (conversationId: string, turnId: string): ConversationEvent => ({
  type: 'TurnAsked',
  data: { ...about(conversationId, turnId), index: 0, question: 'Why?', requestId: 'r', settings: turnSettings() },
});
const stopped = (conversationId: string, turnId: string): ConversationEvent => ({
  type: 'TurnStopped',
  data: { ...about(conversationId, turnId), answer: '', thought: '', sources: [], toolCalls: [], structured: false },
});

type Queries = Pick<FollowUpQueries, 'waiting'>;

/** The contract of the query for conversations whose follow-ups wait. */
export function waitingFollowUpsContract(setUp: () => Promise<ReadModelUnderTest<Queries>>): void {
  let state: ReadModelUnderTest<Queries>;
  let queries: Queries;
  const given = (second: number, id: string, ...events: FollowUpsEvent[]) =>
    state.given(followUpsStream(id), events, { at: at(second) });
  const happened = (id: string, ...events: ConversationEvent[]) => state.given(conversationStream(id), events);

  beforeAll(async () => {
    state = await setUp();
    ({ queries } = state);
    await given(1, 'c1', requested('c1', 'w1'), requested('c1', 'w2'));
    await given(2, 'c2', requested('c2', 'w3', { source: 'monitor' }));
    await given(3, 'c3', requested('c3', 'other', { ownerId: 'bob' }));
  });
  afterAll(() => state.close());

  it('finds each conversation whose follow-up waits, longest wait first', async () => {
    expect(await queries.waiting(10)).toEqual(['c1', 'c2', 'c3']);
    expect(await queries.waiting(1)).toEqual(['c1']);
  });
  it('leaves out a conversation while a turn is running or waits for a decision', async () => {
    await happened('c2', asked('c2', 't1'));
    expect(await queries.waiting(10)).toEqual(['c1', 'c3']);
    await happened('c2', turnPaused(about('c2', 't1'), [waitingCall('k1')]));
    expect(await queries.waiting(10)).toEqual(['c1', 'c3']);
    await happened('c2', stopped('c2', 't1'));
    expect(await queries.waiting(10)).toEqual(['c1', 'c2', 'c3']);
  });
  it('finds a deleted conversation, whose follow-ups have to be dropped', async () => {
    await happened('c3', asked('c3', 't2'), { type: 'ConversationDeleted', data: { conversationId: 'c3' } });
    expect(await queries.waiting(10)).toContain('c3');
  });
  it('finds a conversation whose follow-ups were gathered until they are delivered or merged', async () => {
    await given(5, 'c1', gathered('c1', 't3', 'w1', 'w2'));
    expect(await queries.waiting(10)).toContain('c1');
    const told = { conversationId: 'c1', turnId: 't3' };
    await given(
      6,
      'c1',
      { type: 'FollowUpDelivered', data: { ...told, followUpId: 'w1' } },
      { type: 'FollowUpMerged', data: { ...told, followUpId: 'w2' } },
    );
    expect(await queries.waiting(10)).not.toContain('c1');
  });
}
