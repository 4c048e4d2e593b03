import { describe, it } from '@jest/globals';
import { given } from '../../../test/support/given.js';
import {
  aboutTurn,
  approved,
  begun,
  callOf,
  deleted,
  finished,
  paused,
  resumed,
  stopAsked,
  taken,
  WAITING,
} from '../../../test/support/paused-conversations.js';
import { turnUnresumed } from '../../../test/support/pauses.js';
import { conversation } from './conversation.decider.js';
import { startTurn } from './turn.decider.js';
import type { ConversationEvent } from './conversation.events.js';
import { finishCall, startCall } from './pause.decider.js';
import { requeue, REQUEUES_MAX } from './turn.decider.js';

describe('a call with effects', () => {
  const running = [...WAITING, approved('t1', 'k1'), resumed('t1'), taken('t1', 'p2')];
  const begin = (producer = 'p2') => startCall('t1', producer, callOf('k1'));
  it('is recorded before it starts', () =>
    given(conversation, running)
      .when(begin())
      .then([begun('t1', 'k1')]));
  it.each([
    ['another producer', 'p1', []],
    ['a producer whose turn was requeued', 'p2', [{ type: 'TurnRequeued', data: { ...aboutTurn('t1'), producer: 'p2' } }]],
    ['a producer whose turn is paused', 'p2', [paused('t1', ['k3'])]],
    ['a producer whose turn has ended', 'p2', [turnUnresumed(aboutTurn('t1'), 'expired').at(-1)!]],
  ] as const)('is not started by %s', (_, producer, since) =>
    given(conversation, [...running, ...since])
      .when(begin(producer))
      .thenRejected('turn-taken'),
  );
  it('is not started after a stop was requested', () =>
    given(conversation, [...running, stopAsked('t1')])
      .when(begin())
      .thenRejected('turn-stopping'));
  it('is not started in a deleted conversation', () =>
    given(conversation, [...running, stopAsked('t1'), deleted])
      .when(begin())
      .thenRejected('turn-stopping'));
  it('ends once, also after its turn has ended', () => {
    const ended: ConversationEvent = { type: 'ToolCallFinished', data: finished('t1', 'k1') };
    const end = finishCall(finished('t1', 'k1'));
    given(conversation, [...running, begun('t1', 'k1')])
      .when(end)
      .then([ended]);
    given(conversation, [...running, begun('t1', 'k1'), turnUnresumed(aboutTurn('t1'), 'expired').at(-1)!])
      .when(end)
      .then([ended]);
    given(conversation, [...running, begun('t1', 'k1'), ended])
      .when(end)
      .thenNothing();
  });
  it('records no end where it was not started or the conversation is deleted', () => {
    const end = finishCall(finished('t1', 'k1'));
    given(conversation, running).when(end).thenNothing();
    given(conversation, [...running, begun('t1', 'k1'), deleted])
      .when(end)
      .thenNothing();
  });
});

describe('a run whose producer was lost', () => {
  const running = [...WAITING, approved('t1', 'k1'), resumed('t1'), taken('t1', 'p2')];
  const requeued: ConversationEvent = { type: 'TurnRequeued', data: { ...aboutTurn('t1'), producer: 'p2' } };
  it('is requeued for other producers, also after a pause', () => {
    given(conversation, WAITING.slice(0, 3))
      .when(requeue('t1', 'p1'))
      .then([{ ...requeued, data: { ...aboutTurn('t1'), producer: 'p1' } }]);
    given(conversation, running).when(requeue('t1', 'p2')).then([requeued]);
    given(conversation, [...running, requeued])
      .when(startTurn('t1', 'p3'))
      .then([taken('t1', 'p3')]);
  });
  it('is requeued at most REQUEUES_MAX times per pause', () => {
    const again = Array.from({ length: REQUEUES_MAX - 1 }, () => [requeued, taken('t1', 'p2')]).flat();
    given(conversation, [...running, ...again])
      .when(requeue('t1', 'p2'))
      .then([requeued]);
    const all = [...running, ...again, requeued, taken('t1', 'p2')];
    given(conversation, all).when(requeue('t1', 'p2')).thenNothing();
    given(conversation, [...all, paused('t1', ['k3']), approved('t1', 'k3'), resumed('t1'), taken('t1', 'p2')])
      .when(requeue('t1', 'p2'))
      .then([requeued]);
  });
  it.each([
    ['has another producer', running, 'p1'],
    ['has a requested stop', [...running, stopAsked('t1')], 'p2'],
    ['is requeued already', [...running, requeued], 'p2'],
    ['is paused', WAITING, 'p1'],
    ['is deleted with its conversation', [...running, deleted], 'p2'],
  ] as const)('is not requeued when it %s', (_, past, producer) =>
    given(conversation, [...past])
      .when(requeue('t1', producer))
      .thenNothing(),
  );
});
