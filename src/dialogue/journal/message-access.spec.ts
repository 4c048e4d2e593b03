import { LogEarlierTurns } from '../../../test/support/log-earlier-turns.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { askedTurn, cause } from '../../../test/support/turns.js';
import { conversation, remove } from '../conversation/conversation.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { FRAME_EVENT, messageStream } from './message.events.js';
import { StoredTurnAdditions } from './stored-turn-additions.js';
import type { Caller } from '../../resources/identity/caller.js';
import type { Identity } from '../../resources/identity/identity.js';
import { encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { newId } from '../../kernel/ids.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../platform/system-timing.js';
import { MessageAccess, RECENT_JOURNALS_CHARACTERS_MAX, RECENT_MESSAGES_MAX, RecentMessages } from './message-access.js';
import { turnCommands } from '../../../test/support/turn-commands.js';

const [conversationId, turnId] = [newId(), newId()];
const alice = { kind: 'user', userId: 'alice', roles: ['user'], credential: 'session-token', cause } as const;
const key = { kind: 'agent-key', agentId: 'a1', ownerId: 'alice', keyId: 'key-2', signedIn: undefined, cause } as const;
const as = (caller: Caller | undefined) => ({ callerOrReader: () => Promise.resolve(caller) }) as unknown as Identity;

let store: InMemoryEventStore;
let streams: Streams;
/** The read model's entry of a message without a journal. */
let known: { conversationId: string; expired: boolean } | undefined;
let access: MessageAccess;
let recent: RecentMessages;

beforeEach(() => {
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  known = undefined;
  recent = new RecentMessages(systemTiming);
  access = new MessageAccess(store, streams, { conversationOf: async () => known } as unknown as ConversationQueries, recent);
});

/** Asks a question with or without a key and begins its journal. */
async function asked(agentKeyId: string | null): Promise<void> {
  await askedTurn(store, conversationId, turnId, { agentId: 'a1', agentKeyId });
  const metadata = JSON.stringify({ conversationId, ownerId: 'alice', agentKeyId, agentId: 'a1' });
  await store.append(messageStream(turnId), 'none', [{ id: newId(), type: FRAME_EVENT, data: '{"type":"end"}', metadata }]);
}

describe('a message', () => {
  it('of a conversation that began with a key is readable with the agent’s current key and by the owner', async () => {
    await asked('key-1');
    for (const caller of [alice, key]) {
      expect(await access.readable(turnId, as(caller))).toEqual({ messageId: turnId, conversationId, expired: false });
    }
  });

  it('is not readable with a key when its conversation began without one, even if its journal names the key', async () => {
    await askedTurn(store, conversationId, newId(), { agentId: 'a1' });
    const metadata = JSON.stringify({ conversationId, ownerId: 'alice', agentKeyId: 'key-2', agentId: 'a1' });
    await store.append(messageStream(turnId), 'none', [{ id: newId(), type: FRAME_EVENT, data: '{"type":"end"}', metadata }]);
    await expect(access.readable(turnId, as(key))).rejects.toMatchObject({ code: 'message-not-found' });
    await expect(access.readable(turnId, as(alice))).resolves.toMatchObject({ conversationId });
  });

  it('of an appended turn has the access of its conversation', async () => {
    await asked('key-1');
    const added = newId();
    const parts = { answer: 'Done.', thought: '', sources: [], toolCalls: [], structured: false };
    const origin = { kind: 'schedule', scheduleId: 's1', runId: 'r1', scheduledFor: '2026-01-01T00:00:00.000Z' } as const;
    await new StoredTurnAdditions(store, streams, turnCommands(streams), new LogEarlierTurns(store), 60).add(
      { conversationId, ownerId: 'alice', turnId: added, question: 'Do it.', parts, modelId: 'offline', origin },
      cause,
    );
    for (const caller of [alice, key])
      await expect(access.readable(added, as(caller))).resolves.toMatchObject({ conversationId });
    const otherKey = { ...key, agentId: 'a2' };
    await expect(access.readable(added, as(otherKey))).rejects.toMatchObject({ code: 'message-not-found' });
  });

  it('with an expired journal has the access of its conversation', async () => {
    await askedTurn(store, conversationId, turnId, { agentId: 'a1', agentKeyId: null });
    known = { conversationId, expired: true };
    await expect(access.readable(turnId, as(alice))).resolves.toMatchObject({ expired: true });
    await expect(access.readable(turnId, as(key))).rejects.toMatchObject({ code: 'message-not-found' });
  });

  it('counts as expired, and its read is closed, when only its first frames have expired', async () => {
    await asked(null);
    const frames = ['{}', '{}'].map((data) => ({ id: newId(), type: FRAME_EVENT, data, metadata: '{}' }));
    await store.append(messageStream(turnId), 0, frames);
    await store.setRetention(messageStream(turnId), { truncateBefore: 1 });
    known = { conversationId, expired: true };
    let isLetGo = false;
    const readTexts = store.readTexts.bind(store);
    store.readTexts = async function* (...given) {
      try {
        yield* readTexts(...given);
      } finally {
        isLetGo = true;
      }
    };
    expect(await access.opened(turnId, as(alice))).toEqual({ messageId: turnId, conversationId, expired: true });
    expect(isLetGo).toBe(true);
  });

  it('is not found when its conversation is deleted or unknown', async () => {
    await asked('key-1');
    await streams.transact(conversationStream(conversationId), conversation, remove, cause);
    await expect(access.readable(turnId, as(alice))).rejects.toMatchObject({ code: 'message-not-found' });
    known = { conversationId: newId(), expired: true };
    await expect(access.readable(newId(), as(alice))).rejects.toMatchObject({ code: 'message-not-found' });
  });

  it.each([1, 4, 5, 60])('is not found when %i turns were sealed after the deletion of their conversation', async (seals) => {
    await asked('key-1');
    await streams.transact(conversationStream(conversationId), conversation, remove, cause);
    const { revision } = await streams.fold(conversationStream(conversationId), conversation);
    const sealed = Array.from({ length: seals }, () => ({
      id: newId(),
      type: 'TurnSealed',
      data: JSON.stringify({ conversationId, turnId: newId(), lastId: 1, frames: 2, sha256: '' }),
      metadata: encodeMetadata(cause),
    }));
    await store.append(conversationStream(conversationId), revision, sealed);
    await expect(access.readable(turnId, as(alice))).rejects.toMatchObject({ code: 'message-not-found' });
  });

  it('rejects an unauthenticated reader', async () => {
    await asked(null);
    await expect(access.readable(turnId, as(undefined))).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

it('only the most recent messages are cached with their conversations', () => {
  for (let n = 0; n <= RECENT_MESSAGES_MAX; n++) recent.note({ conversationId: 'c1', turnId: `t${n}` });
  expect(recent.conversationOf('t0')).toBeUndefined();
  expect(recent.conversationOf(`t${RECENT_MESSAGES_MAX}`)).toBe('c1');
});

it('journals are cached up to a total size', () => {
  const journal = { first: 0, texts: ['x'.repeat(RECENT_JOURNALS_CHARACTERS_MAX / 2)] };
  for (const messageId of ['t1', 't2']) recent.noteJournal(messageId, journal);
  expect([recent.journalOf('t1'), recent.journalOf('t2')]).toEqual([undefined, journal]);
});
