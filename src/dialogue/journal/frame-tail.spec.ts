import { beforeEach, expect, it } from '@jest/globals';
import type { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { askedTurn, cause, eventsOf } from '../../../test/support/turns.js';
import type { Commands } from '../../kernel/commands.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { newId } from '../../kernel/ids.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { turnPaused, turnResumed, turnUnresumed, waitingCall } from '../../../test/support/pauses.js';
import { record } from '../../../test/support/user-reactions.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { systemTiming } from '../../platform/system-timing.js';
import type { Identity } from '../../resources/identity/identity.js';
import { type WatchConversation, WatchConversationHandler } from '../conversation/conversation.commands.js';
import { conversation, remove } from '../conversation/conversation.decider.js';
import { conclude, seal, startTurn } from '../conversation/turn.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { AnswerReaders } from './answer-readers.js';
import { FrameTail } from './frame-tail.js';
import { MessageAccess, RECENT_JOURNAL_MS, RecentMessages } from './message-access.js';
import { FRAME_EVENT, messageStream } from './message.events.js';
import { MessageFeed } from './message-feed.js';
import { TurnActivity } from './turn-activity.js';

const alice = { kind: 'user', userId: 'alice', roles: ['user'], credential: 'session-token', cause } as const;
const identity = { callerOrReader: () => Promise.resolve(alice) } as unknown as Identity;
const never = new AbortController().signal;
const END = '{"type":"end"}';
const [conversationId, turnId] = [newId(), newId()];
const stream = conversationStream(conversationId);
const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false, modelId: 'm', usage: null };

let store: InMemoryEventStore;
let streams: Streams;
let signals: InProcessSignals;
let access: MessageAccess;
let recent: RecentMessages;
/** The time of the cached journals. */
let timing: VirtualTiming;
let tail: FrameTail;
let reads: string[];

beforeEach(async () => {
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  signals = new InProcessSignals();
  timing = new VirtualTiming();
  // The cache cannot compute an age from the time 0.
  await timing.pause(1);
  recent = new RecentMessages(timing);
  access = new MessageAccess(store, streams, {} as ConversationQueries, recent);
  const handler = new WatchConversationHandler(streams);
  const commands = { execute: (command: WatchConversation) => handler.execute(command) } as unknown as Commands;
  const feed = new MessageFeed(store, signals, systemTiming);
  tail = new FrameTail(feed, new TurnActivity(streams), new AnswerReaders(commands, store, new LastWrites()), recent);
  reads = [];
  const read = store.read.bind(store);
  store.read = (name, reading) => {
    reads.push(name);
    return read(name, reading);
  };
});

const written = (...data: string[]) => {
  const metadata = JSON.stringify({ conversationId, ownerId: 'alice', agentKeyId: null, agentId: null });
  return data.map((text) => ({ id: newId(), type: FRAME_EVENT, data: text, metadata }));
};

async function answered(): Promise<void> {
  await askedTurn(store, conversationId, turnId);
  const about = { conversationId, turnId };
  for (const decide of [
    startTurn(turnId, 'p'),
    conclude({ type: 'TurnAnswered', data: { ...about, ...parts } }, 'p'),
    seal({ ...about, lastId: 1, frames: 2, sha256: 'ab' }),
  ]) {
    await streams.transact(stream, conversation, decide, cause);
  }
}

async function replayed(): Promise<string> {
  const { started } = await access.opened(turnId, identity);
  let text = '';
  for await (const batch of tail.tail({ conversationId, turnId }, -1, never, alice, started)) text += batch.text;
  return text;
}

it('replays a finished and seen answer with two reads and without a subscription', async () => {
  await store.append(messageStream(turnId), 'none', written('{"type":"answer","answer":"So."}', END));
  await answered();
  await replayed();
  await timing.pause(RECENT_JOURNAL_MS + 1);
  reads = [];
  expect(await replayed()).toBe(`id: 0\ndata: {"type":"answer","answer":"So."}\n\nid: 1\ndata: ${END}\n\n`);
  expect(reads).toEqual([stream, messageStream(turnId)]);
  expect(signals.subjects).toBe(0);
});

it('reads the journal of a finished answer once in RECENT_JOURNAL_MS, and its conversation for each reader', async () => {
  await store.append(messageStream(turnId), 'none', written('"a"', END));
  await answered();
  const first = await replayed();
  await timing.pause(RECENT_JOURNAL_MS - 1);
  reads = [];
  expect([await replayed(), reads]).toEqual([first, [stream]]);
  await timing.pause(2);
  reads = [];
  expect([await replayed(), reads]).toEqual([first, [stream, messageStream(turnId)]]);
  await streams.transact(stream, conversation, remove, cause);
  await expect(replayed()).rejects.toMatchObject({ code: 'message-not-found' });
});

it('caches no journal of an answer that is not sealed', async () => {
  await store.append(messageStream(turnId), 'none', written('"a"', END));
  await askedTurn(store, conversationId, turnId);
  for (let reader = 0; reader < 2; reader++) await (await access.opened(turnId, identity)).started!.journal.close();
  expect(reads.filter((name) => name === messageStream(turnId))).toHaveLength(2);
});

it.each([
  ['in the middle of a run', ['"a"']],
  ['at a pause', ['"a"', END]],
])('replays a journal whole to each reader if its cached page ends %s', async (_, page) => {
  const about = { conversationId, turnId };
  const paused = turnPaused(about, [waitingCall('k1')]);
  await askedTurn(store, conversationId, turnId);
  await record(store, stream, { ...paused, data: { ...paused.data, lastId: 1 } });
  await store.append(messageStream(turnId), 'none', written(...page));
  const frames = [...page, '"b"', END];
  const read = store.read.bind(store);
  store.read = async function* (name, reading) {
    if (name === stream) {
      store.read = read;
      await store.append(messageStream(turnId), page.length - 1, written('"b"', END));
      const sealed = { type: 'TurnSealed', data: { ...about, lastId: frames.length - 1, frames: 4, sha256: 'f' } } as const;
      await record(store, stream, ...turnResumed(about, 'k1'), ...turnUnresumed(about, 'expired', 'k1').slice(-1), sealed);
    }
    yield* read(name, reading);
  };
  const whole = frames.map((data, id) => `id: ${id}\ndata: ${data}\n\n`).join('');
  expect([await replayed(), await replayed(), await replayed()]).toEqual([whole, whole, whole]);
});

it('decides on a conversation that was read after the frames, unless their journal was complete before', async () => {
  await store.append(messageStream(turnId), 'none', written('"a"'));
  await askedTurn(store, conversationId, turnId);
  await access.opened(turnId, identity);
  recent.note({ conversationId, turnId });
  const read = store.read.bind(store);
  store.read = async function* (name, reading) {
    if (name === messageStream(turnId)) await streams.transact(stream, conversation, remove, cause);
    yield* read(name, reading);
  };
  reads = [];
  await expect(access.opened(turnId, identity)).rejects.toMatchObject({ code: 'message-not-found' });
  expect(reads[0]).toBe(stream);
});

it('reads the conversation again if it could not be read together with the journal', async () => {
  await store.append(messageStream(turnId), 'none', written(END));
  await answered();
  recent.note({ conversationId, turnId });
  const read = store.read.bind(store);
  let failures = 1;
  reads = [];
  store.read = (name, reading) => {
    if (name === stream && failures-- > 0) throw new StoreUnavailable('away');
    return read(name, reading);
  };
  expect(await access.readable(turnId, identity)).toMatchObject({ conversationId });
  expect(reads).toEqual([messageStream(turnId), stream]);
});

it('delivers frames that are written between the first page and the subscription', async () => {
  await store.append(messageStream(turnId), 'none', written('"a"'));
  await askedTurn(store, conversationId, turnId);
  const { started } = await access.opened(turnId, identity);
  await store.append(messageStream(turnId), 0, written(END));
  await answered();
  const ids: number[] = [];
  for await (const { first, last } of tail.tail({ conversationId, turnId }, -1, never, alice, started)) ids.push(first, last);
  expect(ids).toEqual([0, 0, 1, 1]);
  // The state from before the answer must not decide that the answer was read already.
  expect((await eventsOf(store, stream)).at(-1)!.type).toBe('ConversationOpened');
});

it('reads the conversation again when the end frame is newer than the state it has', async () => {
  await store.append(messageStream(turnId), 'none', written('"a"', END));
  await askedTurn(store, conversationId, turnId);
  const { started } = await access.opened(turnId, identity);
  expect(started!.conversation.state.turns.get(turnId)!.status).toBe('asked');
  const reading = tail.tail({ conversationId, turnId }, -1, never, alice, started)[Symbol.asyncIterator]();
  expect(await reading.next()).toMatchObject({ value: { last: 1 } });
  await answered();
  expect((await reading.next()).done).toBe(true);
});
