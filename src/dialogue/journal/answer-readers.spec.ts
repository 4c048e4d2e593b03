import { expect, it } from '@jest/globals';
import type { Commands } from '../../kernel/commands.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../platform/system-timing.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { askedTurn, cause, eventsOf } from '../../../test/support/turns.js';
import { type WatchConversation, WatchConversationHandler } from '../conversation/conversation.commands.js';
import { conversation } from '../conversation/conversation.decider.js';
import { conclude, startTurn } from '../conversation/turn.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { AnswerReaders } from './answer-readers.js';
import type { FrameBatch } from './frame-batch.js';

const alice = { kind: 'user', userId: 'alice', roles: ['user'], credential: 'session-token', cause } as const;
const stream = conversationStream('c1');
const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false, modelId: 'm', usage: null };

/** An answered turn, and the readers of its frames. */
async function answered() {
  const store = new InMemoryEventStore();
  const streams = new Streams(store, systemTiming);
  await askedTurn(store, 'c1', 't1');
  await streams.transact(stream, conversation, startTurn('t1', 'p'), cause);
  const outcome = { type: 'TurnAnswered', data: { conversationId: 'c1', turnId: 't1', ...parts } } as const;
  await streams.transact(stream, conversation, conclude(outcome, 'p'), cause);
  const handler = new WatchConversationHandler(streams);
  const commands = { execute: (command: WatchConversation) => handler.execute(command) } as unknown as Commands;
  const lastWrites = new LastWrites();
  const readers = new AnswerReaders(commands, store, lastWrites);
  const types = async () => (await eventsOf(store, stream)).map(({ type }) => type);
  return { store, lastWrites, readers, types };
}

async function* frames(): AsyncGenerator<FrameBatch> {
  yield { first: 0, last: 0, text: 'a', terminal: false, data: ['{}'] };
  yield { first: 1, last: 1, text: 'b', terminal: true, data: ['{}'] };
}

it('an answer counts as read, and its position as the last write of its reader, before the last frame is sent', async () => {
  const { store, lastWrites, readers, types } = await answered();
  const seen: unknown[] = [];
  for await (const { text } of readers.noting({ conversationId: 'c1', turnId: 't1' }, alice, frames())) {
    seen.push([text, (await types()).at(-1), lastWrites.of('alice')]);
  }
  const opened = (await eventsOf(store, stream)).at(-1)!.position;
  expect(seen).toEqual([
    ['a', 'TurnAnswered', undefined],
    ['b', 'ConversationOpened', opened],
  ]);
  for await (const _ of readers.noting({ conversationId: 'c1', turnId: 't1' }, alice, frames()));
  expect((await types()).filter((type) => type === 'ConversationOpened')).toHaveLength(1);
});

it('an answer does not count as read when its reader leaves before the end', async () => {
  const { readers, types } = await answered();
  for await (const _ of readers.noting({ conversationId: 'c1', turnId: 't1' }, alice, frames())) break;
  expect(await types()).not.toContain('ConversationOpened');
});

it('a reader gets all frames also where the reading cannot be recorded or the conversation is another user’s', async () => {
  const { readers, types } = await answered();
  for (const reader of [{ ...alice, userId: 'bob' }, alice]) {
    const read: string[] = [];
    const conversationId = reader === alice ? 'no-such-conversation' : 'c1';
    for await (const { text } of readers.noting({ conversationId, turnId: 't1' }, reader, frames())) read.push(text);
    expect(read).toEqual(['a', 'b']);
  }
  expect(await types()).not.toContain('ConversationOpened');
});
