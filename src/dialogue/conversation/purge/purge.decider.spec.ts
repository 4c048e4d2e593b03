import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../../test/support/given.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { as, ask, conversation, remove, rename } from '../conversation.decider.js';
import { conclude, seal } from '../turn.decider.js';
import type { ConversationEvent, ConversationPurged, ConversationStarted, PurgedTurn } from '../conversation.events.js';
import { inGroups, purgeConversation, purgeTurns } from './purge.decider.js';

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
const part = (from: number, ...turns: string[]) => ({
  ...{ conversationId, ownerId: 'alice', keptFrom: 9, from },
  turns: turns.map(turn),
});
const turnsPurged = (from: number, ...turns: string[]): ConversationEvent => ({
  type: 'TurnsPurged',
  data: part(from, ...turns),
});
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
      .when(purgeTurns(part(0, 't1')))
      .then([turnsPurged(0, 't1')]);
    given(conversation, [...GONE, turnsPurged(0, 't1')])
      .when(purgeTurns(part(0, 't1')))
      .thenNothing();
    given(conversation, [...GONE, turnsPurged(0, 't1')])
      .when(purgeConversation(whole))
      .thenNothing();
    given(conversation, [...GONE, turnsPurged(0, 't1')])
      .when(purgeTurns(part(1, 't2')))
      .then([turnsPurged(1, 't2')]);
    const stated = [...GONE, turnsPurged(0, 't1'), turnsPurged(1, 't2')];
    given(conversation, stated).when(purgeConversation(whole)).then([purged]);
    given(conversation, [...stated, purged])
      .when(purgeConversation(whole))
      .thenNothing();
    given(conversation, [...stated, purged])
      .when(purgeTurns(part(0, 't1', 't2')))
      .thenNothing();
  });

  it.each([
    ['it is not deleted', [...TWO, sealed('t2')]],
    ['a turn is not sealed', [...TWO, deleted]],
    ['it does not exist', []],
  ])('purges nothing while %s', (_, past: ConversationEvent[]) => {
    given(conversation, past)
      .when(purgeTurns(part(0, 't1', 't2')))
      .thenNothing();
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

it('turns are grouped in order, without loss and within the size limit', () => {
  const ids = fc.array(fc.string({ maxLength: 40 }), { maxLength: 60 });
  fc.assert(
    fc.property(ids, fc.integer({ min: 200, max: 900 }), (turnIds, bytesMax) => {
      const turns = turnIds.map(turn);
      const groups = inGroups(turns, bytesMax);
      expect(groups.flat()).toEqual(turns);
      for (const group of groups) {
        expect(group.length).toBeGreaterThan(0);
        const bytes = group.reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each)), 0);
        expect(group.length === 1 || bytes <= bytesMax).toBe(true);
      }
    }),
  );
});
