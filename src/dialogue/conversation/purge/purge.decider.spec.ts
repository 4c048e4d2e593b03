import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../../test/support/given.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { as, ask, conversation, remove, rename } from '../conversation.decider.js';
import { conclude, seal } from '../turn.decider.js';
import type { ConversationEvent, ConversationPurged, ConversationStarted, PurgedTurn } from '../conversation.events.js';
import { purgeConversation, purgeTurns } from './purge.decider.js';

const conversationId = 'c1';
const at = '2026-01-01T00:00:00.000Z';
const start: ConversationStarted['data'] = {
  ...{ conversationId, ownerId: 'alice', agentId: 'a1', name: 'Why?' },
  ...{ visibility: 'listed', sharedUsage: false, history: [] },
};
const started: ConversationEvent = { type: 'ConversationStarted', data: start };
const asked = (turnId: string, index: number): ConversationEvent => ({
  type: 'TurnAsked',
  data: { conversationId, turnId, index, question: 'Why?', requestId: 'r', settings: turnSettings({}) },
});
const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false };
const stopped = (turnId: string): ConversationEvent => ({ type: 'TurnStopped', data: { conversationId, turnId, ...parts } });
const sealedData = (turnId: string) => ({ conversationId, turnId, lastId: 5, frames: 6, sha256: 'ab' });
const sealed = (turnId: string): ConversationEvent => ({ type: 'TurnSealed', data: sealedData(turnId) });
const deleted: ConversationEvent = { type: 'ConversationDeleted', data: { conversationId } };
const turn = (turnId: string): PurgedTurn => ({ turnId, lastId: 5, question: null, told: [] });
const about = { conversationId, ownerId: 'alice', keptFrom: 9 };
const turnsPurged = (from: number, ...turns: string[]): ConversationEvent => ({
  type: 'TurnsPurged',
  data: { ...about, from, turns: turns.map(turn) },
});
/** The next turns of a conversation with these, of which one fits into an event. */
const oneOf = (...turns: string[]) => purgeTurns(about, turns.map(turn), 1);
const whole: ConversationPurged['data'] = {
  ...{ conversationId, ownerId: 'alice', agentId: 'a1', keptFrom: 9, turns: 2, purgedAt: at },
  started: { actor: 'user:alice', credential: 'session-token', at },
  deleted: { actor: 'user:alice', credential: 'session-token', at },
};
const purged: ConversationEvent = { type: 'ConversationPurged', data: whole };

const TWO = [started, asked('t1', 0), stopped('t1'), sealed('t1'), asked('t2', 1), stopped('t2')];
const GONE = [...TWO, deleted, sealed('t2')];

describe('the purge of a conversation', () => {
  it('purges the turns one after the other and then the conversation, each once', () => {
    given(conversation, GONE)
      .when(oneOf('t1', 't2'))
      .then([turnsPurged(0, 't1')]);
    given(conversation, [...GONE, turnsPurged(0, 't1')])
      .when(purgeConversation(whole))
      .thenNothing();
    given(conversation, [...GONE, turnsPurged(0, 't1')])
      .when(oneOf('t1', 't2'))
      .then([turnsPurged(1, 't2')]);
    const stated = [...GONE, turnsPurged(0, 't1'), turnsPurged(1, 't2')];
    given(conversation, stated).when(oneOf('t1', 't2')).thenNothing();
    given(conversation, stated).when(purgeConversation(whole)).then([purged]);
    given(conversation, [...stated, purged])
      .when(purgeConversation(whole))
      .thenNothing();
    given(conversation, [...stated, purged])
      .when(oneOf('t1', 't2'))
      .thenNothing();
  });

  it.each([
    ['it is not deleted', [...TWO, sealed('t2')]],
    ['a turn is not sealed', [...TWO, deleted]],
    ['it does not exist', []],
  ])('purges nothing while %s', (_, past: ConversationEvent[]) => {
    given(conversation, past).when(oneOf('t1', 't2')).thenNothing();
    given(conversation, past)
      .when(purgeConversation({ ...whole, turns: 0 }))
      .thenNothing();
  });
});

describe('a purged conversation', () => {
  const left = [turnsPurged(0, 't1', 't2'), purged];

  it('has the same state whether its events were truncated or not', () => {
    const state = (events: readonly ConversationEvent[]) => ({
      ...events.reduce(conversation.evolve, conversation.initial),
      eventsSinceSnapshot: 0,
    });
    expect(state(left)).toEqual(state([...GONE, ...left]));
  });

  it('accepts no question, name or seal and is not found', () => {
    const question = { conversationId, turnId: 't3', index: null, question: 'Why?', requestId: 'r', settings: turnSettings({}) };
    given(conversation, left).when(ask(question, start)).thenRejected('conversation-not-found');
    given(conversation, left).when(rename('Mine')).thenRejected('conversation-not-found');
    given(conversation, left)
      .when(seal(sealedData('t1')))
      .thenNothing();
    given(conversation, left)
      .when(conclude({ type: 'TurnStopped', data: { conversationId, turnId: 't1', ...parts } }))
      .thenNothing();
    given(conversation, left)
      .when(as({ userId: 'alice' }, remove))
      .thenRejected('conversation-not-found');
  });
});

it('turns are recorded in order, without loss and within the size limit, however many an earlier version has recorded', () => {
  const ids = fc.array(fc.string({ maxLength: 40 }), { maxLength: 60 });
  fc.assert(
    fc.property(ids, fc.nat({ max: 60 }), fc.integer({ min: 200, max: 900 }), (turnIds, before, bytesMax) => {
      const turns = turnIds.map(turn);
      const stated = [...GONE, turnsPurged(0, ...turnIds.slice(0, before))];
      let state = stated.reduce(conversation.evolve, conversation.initial);
      const recorded: PurgedTurn[] = turns.slice(0, before);
      for (let events = purgeTurns(about, turns, bytesMax)(state); events.length > 0;) {
        const [event] = events;
        if (event?.type !== 'TurnsPurged') throw new Error('Another event.');
        const { from, turns: group } = event.data;
        expect([events.length, from, group.length > 0]).toEqual([1, recorded.length, true]);
        const bytes = group.reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each)), 0);
        expect(group.length === 1 || bytes <= bytesMax).toBe(true);
        recorded.push(...group);
        state = conversation.evolve(state, event);
        events = purgeTurns(about, turns, bytesMax)(state);
      }
      expect(recorded).toEqual(turns);
    }),
  );
});
