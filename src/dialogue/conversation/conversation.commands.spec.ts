import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { turnPaused, turnResumed, waitingCall } from '../../../test/support/pauses.js';
import { omitTurns } from '../../../test/support/omitted-turns.js';
import { askedTurn, cause, eventsOf, settings } from '../../../test/support/turns.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import type { Timing } from '../../kernel/timing.js';
import { systemTiming } from '../../platform/system-timing.js';
import {
  OpenConversation,
  OpenConversationHandler,
  WatchConversation,
  WatchConversationHandler,
} from './conversation.commands.js';
import { asOwner, conversation, rename } from './conversation.decider.js';
import { conclude, startTurn } from './turn.decider.js';
import { conversationCodec } from './conversation.codec.js';
import { type ConversationEvent, conversationStream } from './conversation.events.js';
import { pause } from './pause.decider.js';
import { AskAutomaticTurn, AskAutomaticTurnHandler, type FoldedConversation } from './turn.commands.js';

const stream = conversationStream('c1');
const started: ConversationEvent = {
  type: 'ConversationStarted',
  data: {
    conversationId: 'c1',
    ownerId: 'ann',
    agentId: null,
    name: 'Why?',
    visibility: 'listed',
    sharedUsage: false,
    history: [],
  },
};

it('opening a conversation without an unread mark does not wait for concurrent appends', async () => {
  let commit = Promise.resolve();
  const store = new InMemoryEventStore(undefined, () => commit);
  // With real timing, a command that queues behind the append would continue after a while.
  const endless = Object.assign(Object.create(systemTiming) as Timing, { pause: () => new Promise(() => {}) });
  const streams = new Streams(store, endless);
  const { position } = await streams.append(stream, 'none', conversationCodec, [started], cause);
  let goOn = () => {};
  commit = new Promise((resolve) => (goOn = resolve));
  const renaming = streams.transact(stream, conversation, asOwner('ann', rename('Why not?')), cause);
  const opening = new OpenConversationHandler(streams).execute(new OpenConversation('c1', 'ann', cause));
  expect(await opening).toEqual({ position, cleared: false });
  goOn();
  expect((await renaming).state.name).toBe('Why not?');
});

it('opening another user’s conversation is rejected as not found', async () => {
  const streams = new Streams(new InMemoryEventStore(), systemTiming);
  await streams.append(stream, 'none', conversationCodec, [started], cause);
  const opening = new OpenConversationHandler(streams).execute(new OpenConversation('c1', 'bob', cause));
  await expect(opening).rejects.toMatchObject({ code: 'conversation-not-found' });
});

it('reading an answer to its end opens its conversation although this process has cached its turn as paused', async () => {
  const store = new InMemoryEventStore();
  const [here, elsewhere] = [new Streams(store, systemTiming), new Streams(store, systemTiming)];
  const about = { conversationId: 'c1', turnId: 't1' };
  await askedTurn(store, 'c1', 't1');
  await here.transact(stream, conversation, startTurn('t1', 'here'), cause);
  await here.transact(stream, conversation, pause(turnPaused(about, [waitingCall('k1')]).data, 'here'), cause);
  const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false, modelId: 'm', usage: null };
  for (const decide of [
    () => turnResumed(about, 'k1'),
    startTurn('t1', 'elsewhere'),
    conclude({ type: 'TurnAnswered', data: { ...about, ...parts } }, 'elsewhere'),
  ])
    await elsewhere.transact(stream, conversation, decide, cause);
  await new WatchConversationHandler(here).execute(new WatchConversation('c1', 't1', 'alice', cause));
  expect((await eventsOf(store, stream)).at(-1)!.type).toBe('ConversationOpened');
});

it('an automatic turn that another process has asked and ended, and that a snapshot omits, is not asked again', async () => {
  const store = new InMemoryEventStore();
  const [here, elsewhere] = [new Streams(store, systemTiming), new Streams(store, systemTiming)];
  await askedTurn(store, 'c1', 't1');
  await omitTurns(elsewhere, 'c1');
  const known = await here.fold(stream, conversation);
  await elsewhere.transact(stream, conversation, rename('Another name'), cause);
  const origin = { kind: 'follow-up', source: 'job', refId: 'j', dedupeKey: 'd' } as const;
  const question = { conversationId: 'c1', turnId: 't2', question: 'Done.', requestId: 'r2', settings, origin };
  const ask = (streams: Streams, known: FoldedConversation) =>
    new AskAutomaticTurnHandler(streams).execute(new AskAutomaticTurn(question, 'alice', cause, known));
  expect(await ask(elsewhere, await elsewhere.fold(stream, conversation))).toBe('free');
  await omitTurns(elsewhere, 'c1');
  expect(await ask(here, known)).toBe('busy');
  const asked = (await eventsOf(store, stream)).filter(({ type, data }) => type === 'TurnAsked' && data.includes('"t2"'));
  expect(asked).toHaveLength(1);
});
