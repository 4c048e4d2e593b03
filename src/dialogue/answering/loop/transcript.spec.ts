import { describe, expect, it, jest } from '@jest/globals';
import { AnyConversation } from '../../../../test/support/any-conversation.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { Seeded } from '../../../../test/support/seeded.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { ask, conversation } from '../../conversation/conversation.decider.js';
import { conclude, seal, startTurn } from '../../conversation/turn.decider.js';
import { type ConversationEvent, conversationStream, type Exchange } from '../../conversation/conversation.events.js';
import type { Conversation, Decide } from '../../conversation/turn.policy.js';
import { newestFirst, PastExchanges } from './past-exchanges.js';
import { readTranscript } from './transcript.js';

const CONVERSATIONS = 20;
const STEPS = 150;
const EVERYTHING = 1_000_000;
const stream = conversationStream('c1');
const cause = { actor: 'user:carol', credential: 'session-token', correlationId: 'c', causationId: 'c' } as const;

/** A conversation with random events in a log, and its state folded without snapshots. */
async function anyLogged(seed: number) {
  const streams = new Streams(new InMemoryEventStore(), systemTiming);
  const any = new AnyConversation('c1', new Seeded(seed));
  const events: ConversationEvent[] = [];
  for (let step = 0; step < STEPS; step++) events.push(...any.step());
  await streams.transact(stream, conversation, () => events, cause);
  const whole = events
    .filter(({ type }) => type !== 'ConversationSnapshotTaken')
    .reduce(conversation.evolve, conversation.initial);
  return { streams, store: streams.store, events, whole };
}

/** The exchanges by the complete state, in the order of the questions. */
function exchangesIn(whole: Conversation, events: readonly ConversationEvent[]): readonly Exchange[] {
  const answers = new Map<string, string>();
  for (const { type, data } of events)
    if (type === 'TurnAnswered' || type === 'TurnStopped' || type === 'TurnAppended') answers.set(data.turnId, data.answer);
  return events.flatMap((event) => {
    if (event.type !== 'TurnAsked' && event.type !== 'TurnAppended') return [];
    const { turnId, question } = event.data;
    const counts = !whole.turns.get(turnId)!.superseded && answers.get(turnId)?.trim();
    return counts ? [{ prompt: question, response: answers.get(turnId)! }] : [];
  });
}

/** Appends a conversation of answered questions. */
async function longConversation(streams: Streams, turns: number): Promise<void> {
  const start = { conversationId: 'c1', ownerId: 'carol', agentId: null, name: 'Long', visibility: 'listed' } as const;
  const parts = { answer: 'Five.', thought: '', sources: [], toolCalls: [], structured: false, modelId: 'm', usage: null };
  for (let index = 0; index < turns; index++) {
    const about = { conversationId: 'c1', turnId: `t${index}` };
    const question = { ...about, question: `Q${index}?`.padEnd(7), index: null, requestId: 'r', settings: turnSettings() };
    const decide = (decision: Decide) => streams.transact(stream, conversation, decision, cause);
    await decide(ask(question, { ...start, sharedUsage: false, history: [] }));
    await decide(startTurn(about.turnId, 'p'));
    await decide(conclude({ type: 'TurnAnswered', data: { ...about, ...parts } }, 'p'));
    await decide(seal({ ...about, lastId: 5, frames: 6, sha256: 'ab' }));
  }
}

describe('the past exchanges of a conversation', () => {
  it('are the same read backwards as folded forwards, for any superseded, withdrawn and added turns', async () => {
    let exchanges = 0;
    for (let seed = 0; seed < CONVERSATIONS; seed++) {
      const { store, events, whole } = await anyLogged(seed);
      const read = await new PastExchanges(store, stream).before(events.length, EVERYTHING);
      expect(read).toEqual(exchangesIn(whole, events));
      exchanges += read.length;
    }
    expect(exchanges).toBeGreaterThan(CONVERSATIONS);
  });

  it('are the newest that fit the limit', async () => {
    const { store, events } = await anyLogged(3);
    const all = await new PastExchanges(store, stream).before(events.length, EVERYTHING);
    const lengths = all.map(({ prompt, response }) => prompt.length + response.length);
    const newest = lengths.at(-1)! + lengths.at(-2)!;
    expect(await new PastExchanges(store, stream).before(events.length, newest)).toEqual(all.slice(-2));
    expect(await new PastExchanges(store, stream).before(events.length, newest - 1)).toEqual(all.slice(-1));
    expect(await new PastExchanges(store, stream).before(events.length, 0)).toEqual([]);
  });

  it('are read only as far back as they fit', async () => {
    const store = new InMemoryEventStore();
    const streams = new Streams(store, systemTiming);
    await longConversation(streams, 300);
    let read = 0;
    const counting = {
      read: (...args: Parameters<typeof store.read>) => {
        read += args[1]?.limit ?? Infinity;
        return store.read(...args);
      },
    } as InMemoryEventStore;
    const end = Number(await store.lastRevision(stream));
    expect(await new PastExchanges(counting, stream).before(end + 1, 100)).toHaveLength(8);
    expect(end).toBeGreaterThan(900);
    expect(read).toBeLessThanOrEqual(64);
  });

  it('begin with the answered exchanges that the caller sent', async () => {
    const streams = new Streams(new InMemoryEventStore(), systemTiming);
    const history = [
      { prompt: 'One?', response: '1' },
      { prompt: 'Two?', response: '2' },
    ];
    const started = { conversationId: 'c1', ownerId: 'alice', agentId: null, name: 'Hi', visibility: 'listed' } as const;
    const brought = [history[0]!, { prompt: 'Hello?', response: ' ' }, history[1]!];
    const event: ConversationEvent = { type: 'ConversationStarted', data: { ...started, sharedUsage: false, history: brought } };
    await streams.transact(stream, conversation, () => [event], cause);
    expect(await new PastExchanges(streams.store, stream).before(1, EVERYTHING)).toEqual(history);
    expect(await new PastExchanges(streams.store, stream).before(1, 5)).toEqual(history.slice(1));
  });
});

describe('the transcript of a turn', () => {
  it("has the exchanges before its question, and the turn's state in the conversation", async () => {
    let open = 0;
    for (let seed = 0; seed < CONVERSATIONS; seed++) {
      const { streams, store, events, whole } = await anyLogged(seed);
      for (const [turnId, turn] of whole.turns) {
        const transcript = await readTranscript(streams, 'c1', turnId);
        const isAsked = events.some(({ type, data }) => type === 'TurnAsked' && data.turnId === turnId);
        // A turn that is over and sealed may be missing from the snapshot.
        if (!transcript || !isAsked) {
          expect({ isAsked, sealed: turn.sealed, found: transcript !== undefined }).toMatchObject({ found: false });
          expect(turn.sealed || !isAsked).toBe(true);
          continue;
        }
        open += Number(!turn.sealed);
        const at = await revisionOfQuestion(store, turnId);
        expect(await transcript.exchanges(EVERYTHING)).toEqual(
          exchangesIn(whole, events.slice(0, at).concat(outcomesIn(events.slice(at)))),
        );
        expect(transcript.resumption?.paused.calls ?? null).toEqual(turn.pause?.calls ?? null);
        expect(transcript).toMatchObject({ ownerId: 'carol', beginsConversation: at === 1, asked: { turnId } });
      }
    }
    expect(open).toBeGreaterThan(CONVERSATIONS);
  });
});

it('the exchanges of a transcript wait while the event store is away, and are the same', async () => {
  for (let seed = 0; seed < CONVERSATIONS; seed++) {
    const { store, events } = await anyLogged(seed);
    const streams = new Streams(store, new VirtualTiming());
    const turnId = events.findLast(({ type }) => type === 'TurnAsked')!.data as { turnId: string };
    const transcript = await readTranscript(streams, 'c1', turnId.turnId);
    const exchanges = await transcript?.exchanges(EVERYTHING);
    const read = store.read.bind(store);
    let pages = 0;
    // The first attempt fails after its first page.
    const failing = jest.spyOn(store, 'read').mockImplementation((...asked) => {
      if (++pages === 2) throw new StoreUnavailable('The store is away.');
      return read(...asked);
    });
    expect(await transcript?.exchanges(EVERYTHING)).toEqual(exchanges);
    failing.mockRestore();
  }
});

const outcomesIn = (events: readonly ConversationEvent[]) =>
  events.filter(({ type }) => type === 'TurnAnswered' || type === 'TurnStopped');

async function revisionOfQuestion(store: InMemoryEventStore | Streams['store'], turnId: string): Promise<number> {
  for await (const event of newestFirst(store, stream, undefined)) {
    if (event.type === 'TurnAsked' && event.data.turnId === turnId) return event.revision;
  }
  throw new Error(`No question of ${turnId}.`);
}
