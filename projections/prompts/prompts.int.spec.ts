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
    const own = await queries.ownedBy('alice');
    expect(own.map(({ id, content }) => [id, content])).toEqual([
      ['p1', 'Be brief.'],
      ['p2', 'Nul\uFFFD'],
    ]);
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
