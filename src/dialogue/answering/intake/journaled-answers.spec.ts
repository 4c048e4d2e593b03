import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { LogEarlierTurns } from '../../../../test/support/log-earlier-turns.js';
import { askedTurn, cause, settings } from '../../../../test/support/turns.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { SNAPSHOT_EVERY_EVENTS } from '../../conversation/conversation-snapshot.policy.js';
import { askAutomatically, conclude, seal, startTurn } from '../../conversation/turn.decider.js';
import { ask, conversation, open, rename } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { type Decide, NO_REPLY } from '../../conversation/turn.policy.js';
import { JournaledAnswers } from './journaled-answers.js';

const of = (turnId: string) => ({ conversationId: 'c1', turnId });
const unused = undefined as never;
const answersIn = (store: InMemoryEventStore, streams = new Streams(store, systemTiming)) =>
  new JournaledAnswers(...[unused, unused, store, streams, unused, unused, unused, unused], new LogEarlierTurns(store));

it('a journal whose frame was read and is gone has expired', async () => {
  const when = answersIn(new InMemoryEventStore()).journaledAt(of('t1'), 6);
  await expect(when).rejects.toMatchObject({ code: 'journal-expired' });
});

const answered = (turnId: string, answer: string): readonly Decide[] => {
  const parts = { answer, thought: '', sources: [], toolCalls: [], structured: false, modelId: 'm', usage: null };
  return [
    startTurn(turnId, 'p1'),
    conclude({ type: 'TurnAnswered', data: { ...of(turnId), ...parts } }),
    seal({ ...of(turnId), lastId: 1, frames: 2, sha256: 'ab' }),
  ];
};

function conversationInMemory() {
  const store = new InMemoryEventStore();
  const streams = new Streams(store, systemTiming);
  const happens = (...decisions: readonly Decide[]) =>
    decisions.reduce(
      (before, decide) => before.then(() => streams.transact(conversationStream('c1'), conversation, decide, cause)),
      streams.fold(conversationStream('c1'), conversation),
    );
  return { store, streams, happens };
}

it.each([
  ['no snapshot', 0],
  ['a snapshot', SNAPSHOT_EVERY_EVENTS],
])('a question continues after the last turn if a later automatic turn was withdrawn, with %s between', async (_, renamings) => {
  const { store, streams, happens } = conversationInMemory();
  await askedTurn(store, 'c1', 't1');
  await happens(...answered('t1', 'Because.'), open);
  await happens(...Array.from({ length: renamings }, (__, count) => rename(`Name ${count}`)));
  const origin = { kind: 'follow-up', source: 'job', refId: 'j1', dedupeKey: 'j1' } as const;
  const question = { ...of('t2'), question: 'It is done.', requestId: 'r2', settings, origin };
  const { state } = await happens(askAutomatically(question, 'alice'), ...answered('t2', NO_REPLY));
  expect([state.turns.has('t1'), state.nextIndex]).toEqual([renamings === 0, 1]);
  expect(await answersIn(store, streams).goingOnFrom(of('t1'))).toBe(1);
});

it('a question continues after an answer whose question was replaced since, with the history up to that answer', async () => {
  const { store, streams, happens } = conversationInMemory();
  await askedTurn(store, 'c1', 't1');
  const next = { question: 'How?', requestId: 'r', settings };
  await happens(...answered('t1', 'Because.'), ask({ ...of('t2'), ...next, index: null }, null), ...answered('t2', 'So.'));
  await happens(ask({ ...of('t3'), ...next, index: 0 }, null), ...answered('t3', 'Not at all.'));
  const exchanges = await answersIn(store, streams).goingOnFrom(of('t2'));
  expect(exchanges).toMatchObject([{ response: 'Because.' }, { prompt: 'How?', response: 'So.' }]);
});
