import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PromptEvent, promptStream } from '../../src/resources/prompts/prompt.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { prompts } from './prompts.projection.js';
import { PromptQueries } from './prompts.queries.js';

const created = (promptId: string, ownerId: string, content = 'Be brief.'): PromptEvent => ({
  type: 'PromptCreated',
  data: { promptId, ownerId, name: promptId, content, createdAt: '2026-01-01T00:00:00.000Z' },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: PromptQueries;
const given = (promptId: string, ...events: PromptEvent[]) => model.given(promptStream(promptId), events);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(prompts, database.sql);
  queries = new PromptQueries(new ReadModels(database.sql));
  await given('p1', created('p1', 'alice'));
  await given('p2', created('p2', 'alice', 'Nul\0'));
  await given('q1', created('q1', 'bob'));
});
afterAll(() => database.close());

describe('prompts', () => {
  it('are listed only for their owner', async () => {
    expect((await queries.ownedBy('alice')).map(({ id }) => id)).toEqual(['p1', 'p2']);
  });

  it('are listed without their texts, which may be long', async () => {
    const listed = [...(await queries.ownedBy('alice')), ...(await queries.among(['p1']))];
    expect(listed.filter((prompt) => 'content' in prompt)).toEqual([]);
  });

  it('are found by name and text', async () => {
    const prompt = { name: 'p2', content: 'Nul\0' };
    expect(await queries.equalTo('alice', prompt)).toEqual(['p2']);
    for (const [user, other] of [
      ['bob', prompt],
      ['alice', { ...prompt, name: 'p1' }],
      ['alice', { ...prompt, content: 'Be brief.' }],
    ] as const) {
      expect(await queries.equalTo(user, other)).toEqual([]);
    }
    expect((await queries.byId('p2'))?.content).toBe('Nul\uFFFD');
  });

  it('have their latest text', async () => {
    const updatedAt = '2026-01-02T00:00:00.000Z';
    await given('p1', { type: 'PromptUpdated', data: { promptId: 'p1', content: '', updatedAt } });
    expect(await queries.byId('p1')).toMatchObject({ name: 'p1', content: '', updatedAt: new Date(updatedAt) });
  });

  it('of an import are listed once its agent is imported', async () => {
    const data = { promptId: 'd1', ownerId: 'dora', name: 'd1', content: 'x', createdAt: '2026-01-01T00:00:00.000Z' };
    await given('d1', { type: 'PromptCreated', data: { ...data, importId: 'i1' } });
    expect([(await queries.ownedBy('dora')).length, (await queries.byId('d1'))?.name]).toEqual([0, 'd1']);
    const updated = { agentId: 'a1', updatedAt: data.createdAt, changes: {}, importId: 'i1' };
    await model.given('agent-a1', [{ type: 'AgentUpdated', data: updated }]);
    expect((await queries.ownedBy('dora')).length).toBe(1);
  });

  it('are removed when they are deleted', async () => {
    await given('p2', { type: 'PromptDeleted', data: { promptId: 'p2' } });
    expect([await queries.byId('p2'), (await queries.ownedBy('alice')).length]).toEqual([undefined, 1]);
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.byId('p1');
    await model.again();
    expect(await queries.byId('p1')).toEqual(before);
    await model.expectSameAfterRebuild();
  });
});
