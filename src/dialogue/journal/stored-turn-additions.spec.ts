import { LogEarlierTurns } from '../../../test/support/log-earlier-turns.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../test/support/mortal-store.js';
import { omitTurns } from '../../../test/support/omitted-turns.js';
import { askedTurn, cause, eventsOf, framesOf } from '../../../test/support/turns.js';
import { readTranscript } from '../answering/loop/transcript.js';
import { APPEND_BYTES_MAX } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { ask, conversation, remove } from '../conversation/conversation.decider.js';
import { conversationStream, type TurnAppended } from '../conversation/conversation.events.js';
import { messageStream } from './message.events.js';
import { messageOf } from '../../../test/support/message.js';
import { MessageDigest } from './message.policy.js';
import { StoredTurnAdditions } from './stored-turn-additions.js';
import type { AddedTurn } from '../conversation/additions.port.js';
import type { Decide } from '../conversation/turn.policy.js';
import { systemTiming } from '../../platform/system-timing.js';
import { turnCommands } from '../../../test/support/turn-commands.js';

const RETENTION_SECONDS = 60;
const added: AddedTurn = {
  conversationId: 'c1',
  ownerId: 'alice',
  turnId: 't2',
  question: 'Water the plants.',
  parts: {
    answer: 'They have water.',
    thought: 'Hm.',
    sources: [{ text: 't', title: 'T', source: 's', filename: 'f' }],
    toolCalls: [{ call_id: 'k1' }],
    structured: false,
  },
  modelId: 'offline',
  origin: { kind: 'schedule', scheduleId: 's1', runId: 'r1', scheduledFor: '2026-01-01T00:00:00.000Z' },
};
const stream = conversationStream('c1');

let store: InMemoryEventStore;
let streams: Streams;
const additions = (over: InMemoryEventStore | MortalStore = store) => {
  const streams = new Streams(over, systemTiming);
  return new StoredTurnAdditions(over, streams, turnCommands(streams), new LogEarlierTurns(over), RETENTION_SECONDS);
};
const decide = (decision: Decide) => streams.transact(stream, conversation, decision, cause);
const appended = async () =>
  (await eventsOf(store, stream))
    .filter(({ type }) => type === 'TurnAppended')
    .map(({ data }) => JSON.parse(data) as TurnAppended['data']);

beforeEach(async () => {
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  await askedTurn(store, 'c1', 't1');
});

describe('an appended turn', () => {
  it('is the last turn of its conversation and has a journal', async () => {
    expect(await additions().add(added, cause)).toBe(1);
    const frames = await eventsOf(store, messageStream('t2'));
    const { parts, conversationId, requestId, last } = messageOf(frames.map(({ data }) => data));
    expect([parts, conversationId, requestId, last]).toEqual([added.parts, 'c1', 'r1', 'end']);
    expect(JSON.parse(frames[0]!.metadata)).toMatchObject({ conversationId: 'c1', ownerId: 'alice', agentKeyId: null });
    const digest = new MessageDigest();
    for (const { revision, data } of frames) digest.add(revision, data);
    const { question, origin, modelId } = added;
    const shown = { lastId: digest.lastId, frames: digest.frames, sha256: digest.hex() };
    expect(await appended()).toEqual([
      { conversationId: 'c1', turnId: 't2', index: 1, question, ...parts, modelId, requestId: 'r1', origin, ...shown },
    ]);
  });

  it('is added once when it is repeated', async () => {
    await additions().add(added, cause);
    expect(await additions().add(added, { ...cause, correlationId: 'r2' })).toBe(1);
    expect(await appended()).toHaveLength(1);
  });

  it('keeps the value of a structured answer', async () => {
    const parts = { ...added.parts, answer: '{"dry":false}', structured: true };
    await additions().add({ ...added, parts }, cause);
    expect(messageOf((await eventsOf(store, messageStream('t2'))).map(({ data }) => data)).parts).toEqual(parts);
  });

  it('is not added when its conversation is unknown, deleted or another user’s', async () => {
    expect(await additions().add({ ...added, conversationId: 'c9' }, cause)).toBeUndefined();
    expect(await additions().add({ ...added, ownerId: 'mallory' }, cause)).toBeUndefined();
    await decide(remove);
    expect(await additions().add(added, cause)).toBeUndefined();
    expect([await appended(), await framesOf(store, 't2')]).toEqual([[], []]);
  });

  it('is not added when its conversation is deleted while the journal is written', async () => {
    const late = new MortalStore(store, Infinity, async (name) => {
      if (name === messageStream('t2')) await decide(remove);
    });
    expect(await additions(late).add(added, cause)).toBeUndefined();
    expect(await appended()).toEqual([]);
  });

  it('is added after a question that is asked during the append', async () => {
    let isAsked = false;
    const question = { conversationId: 'c1', turnId: 't3', index: null, question: 'And?', requestId: 'r' };
    const late = new MortalStore(store, Infinity, async () => {
      if (!isAsked)
        await decide(ask({ ...question, settings: (await readTranscript(streams, 'c1', 't1'))!.asked.settings }, null));
      isAsked = true;
    });
    expect(await additions(late).add(added, cause)).toBe(2);
  });

  it('is added once although a snapshot omits the turn that another process has added meanwhile', async () => {
    let isFirst = true;
    const late = new MortalStore(store, Infinity, async (name, [type]) => {
      if (name !== stream || type !== 'TurnAppended' || !isFirst) return;
      isFirst = false;
      await additions().add(added, cause);
      await omitTurns(streams, 'c1');
    });
    expect(await additions(late).add(added, { ...cause, correlationId: 'r2' })).toBe(1);
    expect(await appended()).toHaveLength(1);
  });

  it('is part of the history of the next question', async () => {
    await additions().add(added, cause);
    const { settings } = (await readTranscript(streams, 'c1', 't1'))!.asked;
    await decide(ask({ conversationId: 'c1', turnId: 't3', index: null, question: 'Did you?', requestId: 'r', settings }, null));
    await expect((await readTranscript(streams, 'c1', 't3'))!.exchanges(1_000)).resolves.toEqual([
      { prompt: 'Water the plants.', response: 'They have water.' },
    ]);
    expect(await readTranscript(streams, 'c1', 't2')).toBeUndefined();
  });

  it('is complete and added once after a crash at any step', async () => {
    const large = { ...added, parts: { ...added.parts, answer: 'x'.repeat(0.6 * APPEND_BYTES_MAX) } };
    const deaths: number[] = [];
    for (let appends = 0; appends < 10; appends++) {
      store = new InMemoryEventStore();
      streams = new Streams(store, systemTiming);
      await askedTurn(store, 'c1', 't1');
      const mortal = new MortalStore(store, appends);
      const died = await additions(mortal)
        .add(large, cause)
        .then(
          () => false,
          () => true,
        );
      if (died) deaths.push(appends);
      expect(await additions().add(large, { ...cause, correlationId: died ? 'r2' : 'r1' })).toBe(1);
      const [stated] = await appended();
      const digest = new MessageDigest();
      for (const { revision, data } of await eventsOf(store, messageStream('t2'))) digest.add(revision, data);
      expect([stated!.frames, stated!.sha256]).toEqual([digest.frames, digest.hex()]);
      expect((await framesOf(store, 't2')).map(({ type }) => type)).toEqual(
        ['message_id', 'thought', 'answer', 'source', 'tool_calls', 'id', 'end'], // oxfmt-ignore
      );
    }
    expect(deaths.length).toBeGreaterThan(2);
  });
});
