import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { agentFoldersStream } from '../../src/resources/agents/folders/agent-folders.events.js';
import { type AgentConfiguration, type AgentEvent, agentStream } from '../../src/resources/agents/agent.events.js';
import { BLANK_AGENT } from '../../src/resources/agents/agent.policy.js';
import { conversationStream, type TurnAsked } from '../../src/dialogue/conversation/conversation.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { ReadModels } from '../read-models.js';
import { AgentFolderQueries } from './agent-folders.queries.js';
import { agents } from './agents.projection.js';
import { AgentQueries } from './agents.queries.js';

const jsonSchema = { type: 'object', properties: { zebra: { type: 'string' }, ant: { type: 'string' } } };
const created = (agentId: string, ownerId: string, more: Partial<AgentConfiguration> = {}): AgentEvent => ({
  type: 'AgentCreated',
  data: { agentId, ownerId, createdAt: '2026-01-01T00:00:00.000Z', configuration: { ...BLANK_AGENT, name: agentId, ...more } },
});
const updated = (agentId: string, changes: Partial<AgentConfiguration>): AgentEvent => ({
  type: 'AgentUpdated',
  data: { agentId, updatedAt: '2026-01-02T00:00:00.000Z', changes },
});
const published = (agentId: string): AgentEvent => ({
  type: 'AgentPublished',
  data: { agentId, updatedAt: '2026-01-03T00:00:00.000Z' },
});
const issued = (agentId: string, keyId: string): AgentEvent => ({
  type: 'AgentKeyIssued',
  data: { agentId, key: { keyId, hash: `hash-${keyId}`, masked: 'abcd...wxyz' } },
});
const revoked = (agentId: string, keyId: string): AgentEvent => ({ type: 'AgentKeyRevoked', data: { agentId, keyId } });
const pinned = (agentId: string, userId: string): AgentEvent => ({ type: 'AgentPinned', data: { agentId, userId } });
const asked = (agentId: string | null): TurnAsked => ({
  type: 'TurnAsked',
  data: {
    conversationId: 'c1',
    turnId: 't1',
    index: 0,
    question: '?',
    requestId: 'r',
    settings: turnSettings({ agentId }),
  },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: AgentQueries;
const given = (agentId: string, ...events: AgentEvent[]) => model.given(agentStream(agentId), events);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(agents, database.sql);
  queries = new AgentQueries(new ReadModels(database.sql));
  await given('a1', created('a1', 'alice', { jsonSchema }), published('a1'), issued('a1', 'k1'), pinned('a1', 'alice'));
  await given('a2', created('a2', 'alice', { name: 'Nul\0 and half \ud800' }), pinned('a2', 'alice'));
  await given('b1', created('b1', 'bob'), published('b1'), issued('b1', 'k2'));
});
afterAll(() => database.close());

describe('agents', () => {
  it('are found by id with their configuration and the property order of its schema', async () => {
    const agent = await queries.byId('a1');
    expect(agent).toMatchObject({ ownerId: 'alice', status: 'published', key: { keyId: 'k1', masked: 'abcd...wxyz' } });
    expect(agent?.configuration).toEqual({ ...BLANK_AGENT, name: 'a1', jsonSchema });
    expect(Object.keys(agent!.configuration.jsonSchema!['properties'] as object)).toEqual(['zebra', 'ant']);
  });

  it('are found by the hash of their current key and not of a revoked one', async () => {
    expect((await queries.byKeyHash('hash-k1'))?.id).toBe('a1');
    expect((await queries.byKeyHash('hash-k2'))?.id).toBe('b1');
    await given('b1', revoked('b1', 'k2'), issued('b1', 'k3'));
    expect([(await queries.byKeyHash('hash-k2'))?.id, (await queries.byKeyHash('hash-k3'))?.id]).toEqual([undefined, 'b1']);
  });

  it('are found by the hash of their webhook’s token', async () => {
    const webhook = { hash: 'hash-w1', credentialsId: 'c1' };
    await given('a1', { type: 'AgentWebhookMinted', data: { agentId: 'a1', webhook } });
    expect(await queries.byWebhookHash('hash-w1')).toMatchObject({ id: 'a1', webhook });
    expect([await queries.byWebhookHash('hash-w2'), (await queries.byId('b1'))?.webhook]).toEqual([undefined, null]);
  });

  it('are read once for several requests with the same id, key or webhook', async () => {
    const answers = new Map<string, unknown>();
    const remembered = new AgentQueries(
      new ReadModels(database.sql, async <T>(_projection: string, key: string, query: () => Promise<T>) => {
        if (!answers.has(key)) answers.set(key, await query());
        return answers.get(key) as T;
      }),
    );
    for (let request = 0; request < 2; request++) {
      const agents = [remembered.byId('a1'), remembered.byKeyHash('hash-k1'), remembered.byWebhookHash('hash-w1')];
      expect((await Promise.all(agents)).map((agent) => agent?.id)).toEqual(['a1', 'a1', 'a1']);
    }
    expect(answers.size).toBe(3);
  });

  it('are listed only for their owner, with characters replaced that Postgres cannot store', async () => {
    expect((await queries.ownedBy('alice')).map(({ configuration }) => configuration.name)).toEqual([
      'a1',
      'Nul\uFFFD and half \uFFFD',
    ]);
  });

  it('are updated field by field', async () => {
    await given('a2', updated('a2', { chunks: 0, jsonSchema }), updated('a2', { name: 'Second' }));
    const agent = await queries.byId('a2');
    expect(agent?.configuration).toEqual({ ...BLANK_AGENT, name: 'Second', chunks: 0, jsonSchema });
    expect(agent?.updatedAt.toISOString()).toBe('2026-01-02T00:00:00.000Z');
    await given('a2', updated('a2', { jsonSchema: null }));
    expect((await queries.byId('a2'))?.configuration.jsonSchema).toBeNull();
  });

  it('are pinned and unpinned', async () => {
    expect((await queries.pinnedBy('alice')).map(({ id }) => id)).toEqual(['a1', 'a2']);
    expect([await queries.isPinned('a1', 'alice'), await queries.isPinned('a1', 'bob')]).toEqual([true, false]);
    await given('a1', { type: 'AgentUnpinned', data: { agentId: 'a1', userId: 'alice' } });
    expect((await queries.pinnedBy('alice')).map(({ id }) => id)).toEqual(['a2']);
    expect([...(await queries.pinsOf('alice'))]).toEqual(['a2']);
  });

  it('have the time at which they were last asked', async () => {
    expect((await queries.byId('a1'))?.lastUsedAt).toBeNull();
    const at = new Date('2026-02-01T00:00:00Z');
    await model.given(conversationStream('c1'), [asked('a1')], { at });
    await model.given(conversationStream('c1'), [asked(null)]);
    expect((await queries.byId('a1'))?.lastUsedAt).toEqual(at);
  });

  it('are in their folder as long as it exists and belongs to their owner', async () => {
    const folders = new AgentFolderQueries(new ReadModels(database.sql));
    const made = (folderId: string, ownerId: string, parentId: string | null) =>
      model.given(agentFoldersStream(ownerId), [
        {
          type: 'AgentFolderCreated',
          data: { folderId, ownerId, name: folderId, parentId, createdAt: '2026-01-01T00:00:00.000Z' },
        },
      ]);
    await made('f1', 'alice', null);
    await made('f2', 'alice', 'f1');
    await made('f3', 'bob', null);
    await given('a1', updated('a1', { folderId: 'f3' }));
    expect((await queries.byId('a1'))?.configuration.folderId).toBeNull();
    await given('a1', updated('a1', { folderId: 'f1' }));
    expect((await queries.byId('a1'))?.configuration.folderId).toBe('f1');
    expect([(await folders.agentsIn('alice', 'f1')).map(({ id }) => id), await folders.foldersIn('alice', 'f1')]).toEqual([
      ['a1'],
      [{ id: 'f2', name: 'f2' }],
    ]);
    const changed = { folderId: 'f2', ownerId: 'alice', name: 'F2', updatedAt: '2026-01-02T00:00:00.000Z' };
    await model.given(agentFoldersStream('alice'), [
      { type: 'AgentFolderChanged', data: changed },
      { type: 'AgentFolderDeleted', data: { folderId: 'f1', ownerId: 'alice' } },
    ]);
    expect((await queries.byId('a1'))?.configuration.folderId).toBeNull();
    expect(await folders.ownedBy('alice')).toMatchObject([{ id: 'f2', name: 'F2', parentId: null }]);
  });

  it('are removed with their pins and webhooks when they are deleted', async () => {
    const webhook = { hash: 'hash-w2', credentialsId: 'c2' };
    await given('a2', { type: 'AgentWebhookMinted', data: { agentId: 'a2', webhook } });
    await given('a2', { type: 'AgentDeleted', data: { agentId: 'a2' } });
    expect([await queries.byId('a2'), await queries.pinnedBy('alice')]).toEqual([undefined, []]);
    expect(await queries.byWebhookHash('hash-w2')).toBeUndefined();
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.byId('a1');
    await model.again();
    expect(await queries.byId('a1')).toEqual(before);
    await model.expectSameAfterRebuild();
  });
});
