import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../test/support/postgres-for-tests.js';
import { projecting } from '../test/support/projecting.js';
import { turnSettings } from '../test/support/turn-settings.js';
import { continuationStream } from '../src/dialogue/answering/continuations/continuation.events.js';
import { conversationCodec } from '../src/dialogue/conversation/conversation.codec.js';
import { type ConversationEvent, conversationStream, type TurnOrigin } from '../src/dialogue/conversation/conversation.events.js';
import { PurgeableFacts } from '../src/dialogue/conversation/purge/purgeable-conversation.policy.js';
import { decode } from '../src/kernel/event-sourcing/codec.js';
import type { StoredEvent } from '../src/kernel/event-sourcing/event-store.js';
import { projections } from './catalogue.js';

const conversationId = 'c1';
const stream = conversationStream(conversationId);
const blob = { sha256: 'ab'.repeat(32), size: 70_000 };
const about = (turnId: string) => ({ conversationId, turnId });
const record = { tool_name: 'web', action_name: 'get', call_id: 'k1', arguments: {}, status: 'completed', result: 'ok' };
const parts = { answer: 'Secret.', thought: '', sources: [], toolCalls: [record], structured: false };
const used = (promptTokens: number, completionTokens: number) => ({ usage: { promptTokens, completionTokens } });
const sealed = (turnId: string): ConversationEvent => ({
  type: 'TurnSealed',
  data: { ...about(turnId), lastId: 5, frames: 6, sha256: 'cd' },
});
const call = {
  ...{ callId: 'k1', toolId: 'w', toolName: 'web', actionName: 'get', name: 'get', arguments: {}, argumentsSha256: 'ef' },
};
const asked = (turnId: string, index: number, more: object = {}, origin?: TurnOrigin): ConversationEvent => ({
  type: 'TurnAsked',
  data: {
    ...about(turnId),
    ...{ index, question: 'Secret?', requestId: 'r' },
    settings: turnSettings(more),
    ...(origin && { origin }),
  },
});

/** A conversation with turns of every kind, up to its deletion. */
const SAID: readonly ConversationEvent[] = [
  {
    type: 'ConversationStarted',
    data: {
      ...{ conversationId, ownerId: 'ann', agentId: 'helper', name: 'Secret?', visibility: 'listed' },
      ...{ sharedUsage: false, history: [] },
    },
  },
  asked('t1', 0, { agentId: 'helper', agentKeyId: 'key' }),
  { type: 'TurnStarted', data: { ...about('t1'), producer: 'p' } },
  { type: 'ToolCallStarted', data: { ...about('t1'), call } },
  {
    type: 'TurnPaused',
    data: {
      ...about('t1'),
      ...parts,
      ...used(100, 20),
      ...{ calls: [], expiresAt: '2026-11-30T00:00:00Z', lastId: 3, modelId: 'm1', continuation: { blob, isOwn: true } },
    },
  },
  { type: 'TurnResumed', data: { ...about('t1'), checkUsage: null } },
  { type: 'ToolCallFinished', data: { ...about('t1'), callId: 'k1', status: 'completed', result: 'ok' } },
  { type: 'TurnAnswered', data: { ...about('t1'), ...parts, ...used(160, 30), modelId: 'm2' } },
  sealed('t1'),
  {
    type: 'ConversationShared',
    data: { conversationId, shareId: 's', tokenHash: 'h', turnIds: ['t1'], sharedAt: '2026-11-01T00:00:00Z' },
  },
  asked('t2', 1),
  {
    type: 'TurnPaused',
    data: {
      ...about('t2'),
      ...parts,
      ...used(12, 2),
      ...{ calls: [], expiresAt: '2026-11-30T00:00:00Z', lastId: 3, modelId: 'm1', continuation: { text: '{}' } },
    },
  },
  // A lower usage than before adds nothing.
  { type: 'TurnFailed', data: { ...about('t2'), ...parts, ...used(9, 3), error: 'x', code: null } },
  sealed('t2'),
  {
    type: 'TurnAppended',
    data: {
      ...about('t3'),
      ...parts,
      ...{ index: 2, question: 'Secret.', requestId: 'r', modelId: 'm1', lastId: 4, frames: 5, sha256: 'ab' },
      origin: { kind: 'schedule', scheduleId: 's', runId: 'r', scheduledFor: '2026-11-02T00:00:00Z' },
    },
  },
  { type: 'BackgroundWorkNoted', data: { conversationId, work: { kind: 'job', id: 'j' }, status: 'active', asOf: 1 } },
  asked('t4', 3, {}, { kind: 'follow-up', source: 'job', refId: 'j', dedupeKey: 'j' }),
  { type: 'TurnStopped', data: { ...about('t4'), ...parts, ...used(0, 0) } },
  asked('t5', 4, { agentId: 'helper' }),
  { type: 'TurnStarted', data: { ...about('t5'), producer: 'p' } },
  { type: 'TurnStopRequested', data: about('t5') },
  { type: 'ConversationDeleted', data: { conversationId } },
  { type: 'TurnStopped', data: { ...about('t5'), ...parts, answer: '', toolCalls: [], ...used(7, 1) } },
  sealed('t4'),
  sealed('t5'),
];

function purgeableIn(stored: readonly StoredEvent[]) {
  const facts = new PurgeableFacts();
  for (const each of stored) facts.add(decode<ConversationEvent>(conversationCodec, each)!);
  return facts.found()!;
}

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const followers = projections.filter(
  ({ categories, exceptCategories }) => categories?.includes('conversation') ?? !exceptCategories?.includes('conversation'),
);

it('several read models use events of conversations', () => expect(followers.length).toBeGreaterThan(7));

it.each(followers)(
  '$name has the same rows of a purged conversation, however many of its events are left in the log',
  async (projection) => {
    const model = await projecting(projection, database.sql);
    const stored: StoredEvent[] = [];
    for (const event of SAID) stored.push(...(await model.given(stream, [event])));
    await model.given(continuationStream('t1'), [{ type: 'ContinuationDropped', data: { turnId: 't1', sha256: blob.sha256 } }]);
    const purgeable = purgeableIn(stored);
    const { kept, turns } = purgeable;
    const { ownerId, keptFrom } = kept;
    const groups = [turns.slice(0, 3), turns.slice(3)];
    for (const [index, group] of groups.entries()) {
      const data = { conversationId, ownerId, keptFrom, from: 3 * index, turns: group };
      await model.given(stream, [{ type: 'TurnsPurged', data }]);
    }
    await model.given(stream, [{ type: 'ConversationPurged', data: { ...kept, purgedAt: '2026-11-03T00:00:00Z' } }]);
    await model.again();
    await model.expectSameAfterRebuild();
    // A rebuild may have read the first events before the stream was truncated.
    for (let read = 0; read < keptFrom; read += 2)
      await model.expectSameAfterRebuild(
        (event) => event.stream !== stream || event.revision < read || event.revision >= keptFrom,
      );
    // The store deletes the oldest events first, and a rebuild may read the others before they are deleted.
    for (let deleted = 1; deleted < keptFrom; deleted += 2)
      await model.expectSameAfterRebuild((event) => event.stream !== stream || event.revision >= deleted);
  },
);

it('no read model keeps any text of a purged conversation', async () => {
  for (const projection of followers) {
    const model = await projecting(projection, database.sql);
    const stored = await model.given(stream, SAID);
    const { kept, turns } = purgeableIn(stored);
    const { ownerId, keptFrom } = kept;
    await model.given(stream, [
      { type: 'TurnsPurged', data: { conversationId, ownerId, keptFrom, from: 0, turns } },
      { type: 'ConversationPurged', data: { ...kept, purgedAt: '2026-11-03T00:00:00Z' } },
    ]);
    const schema = projection.name.replaceAll('-', '_');
    const tables = await database.sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = ${schema}`;
    for (const { name } of tables) {
      const rows = await database.sql<
        { text: string }[]
      >`select t::text as text from ${database.sql(schema)}.${database.sql(name)} t`;
      expect({ schema, name, found: rows.filter(({ text }) => text.includes('Secret')) }).toEqual({ schema, name, found: [] });
    }
  }
});
