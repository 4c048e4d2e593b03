import { expect } from '@jest/globals';
import { conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { messageStream } from '../../src/dialogue/journal/message.events.js';
import { MessageDigest } from '../../src/dialogue/journal/message.policy.js';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { eventsOf } from './turns.js';

/** The types of the outcomes of the turn t1, in order. */
export async function outcomesOf(store: EventStore): Promise<string[]> {
  const types = (await eventsOf(store, conversationStream('c1'))).map((event) => event.type);
  return types.filter((type) => ['TurnAnswered', 'TurnFailed', 'TurnStopped'].includes(type));
}

/** Expects one seal of the turn t1, which describes the frames of its journal. */
export async function expectSealed(store: EventStore): Promise<void> {
  const digest = new MessageDigest();
  for (const { revision, data } of await eventsOf(store, messageStream('t1'))) digest.add(revision, data);
  const sealed = (await eventsOf(store, conversationStream('c1'))).filter((event) => event.type === 'TurnSealed');
  expect(sealed.map((event) => JSON.parse(event.data) as object)).toEqual([
    { conversationId: 'c1', turnId: 't1', lastId: digest.lastId, frames: digest.frames, sha256: digest.hex() },
  ]);
}
