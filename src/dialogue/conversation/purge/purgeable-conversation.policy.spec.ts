import { inspect } from 'node:util';
import { expect, it } from '@jest/globals';
import { cause } from '../../../../test/support/turns.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import type { ConversationEvent } from '../conversation.events.js';
import { PurgeableFacts } from './purgeable-conversation.policy.js';

const conversationId = 'c1';
const at = new Date('2026-01-01T00:00:00Z');
const parts = { answer: 'Secret.', thought: 'Secret', sources: [], toolCalls: [], structured: false };
const usage = { promptTokens: 3, completionTokens: 1 };

const turn = (turnId: string, index: number): readonly ConversationEvent[] => [
  {
    type: 'TurnAsked',
    data: { conversationId, turnId, index, question: 'Secret?', requestId: 'r', settings: turnSettings({}) },
  },
  { type: 'TurnStopped', data: { conversationId, turnId, ...parts, usage } },
  { type: 'TurnSealed', data: { conversationId, turnId, lastId: index, frames: 6, sha256: 'ab' } },
];

it('the facts of a conversation are collected event by event, and no text of it is kept meanwhile', () => {
  const said: readonly ConversationEvent[] = [
    {
      type: 'ConversationStarted',
      data: {
        ...{ conversationId, ownerId: 'ann', agentId: 'a1', name: 'Secret?', visibility: 'listed' },
        ...{ sharedUsage: false, history: [] },
      },
    },
    ...turn('t0', 0),
    ...turn('t1', 1),
    { type: 'ConversationDeleted', data: { conversationId } },
  ];
  const facts = new PurgeableFacts();
  for (const [revision, event] of said.entries()) {
    expect(facts.found()).toBeUndefined();
    const recorded = { ...event, id: `e${revision}`, stream: 's', revision, position: BigInt(revision), at, cause };
    facts.add(recorded);
    expect(inspect(facts, { depth: Infinity, showHidden: true })).not.toContain('Secret');
  }
  expect(facts.found()).toMatchObject({
    kept: { conversationId, ownerId: 'ann', agentId: 'a1', keptFrom: said.length, turns: 2 },
    turns: [
      { turnId: 't0', lastId: 0, question: { revision: 1 }, told: [{ ...usage, revision: 2 }] },
      { turnId: 't1', lastId: 1, question: { revision: 4 }, told: [{ ...usage, revision: 5 }] },
    ],
  });
});
