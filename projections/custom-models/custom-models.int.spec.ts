import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type CustomModelDefinition,
  type CustomModelEvent,
  customModelStream,
} from '../../src/resources/models/custom/custom-model.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { customModels } from './custom-models.projection.js';
import { CustomModelQueries } from './custom-models.queries.js';

const DEFINITION: CustomModelDefinition = {
  displayName: 'Cellar',
  description: '',
  upstreamModelId: 'llama',
  baseUrl: 'https://models.example/v1',
  credentialsId: 'c1',
  capabilities: { supports_tools: false, context_window: 16_000 },
  enabled: true,
};
const created = (modelId: string, ownerId: string, more: Partial<CustomModelDefinition> = {}): CustomModelEvent => ({
  type: 'CustomModelCreated',
  data: { modelId, ownerId, definition: { ...DEFINITION, ...more } },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: CustomModelQueries;
const given = (id: string, ...events: CustomModelEvent[]) => model.given(customModelStream(id), events);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(customModels, database.sql);
  queries = new CustomModelQueries(new ReadModels(database.sql));
  await given('m1', created('m1', 'alice'));
  await given('m2', created('m2', 'alice', { displayName: 'Nul\0', enabled: false }));
  await given('n1', created('n1', 'bob'));
});
afterAll(() => database.close());

describe('custom models', () => {
  it('are listed and counted only for their owner', async () => {
    const own = await queries.ownedBy('alice');
    expect(own.map(({ id, definition }) => [id, definition.displayName, definition.enabled])).toEqual([
      ['m1', 'Cellar', true],
      ['m2', 'Nul\uFFFD', false],
    ]);
    expect(await queries.countOf('alice')).toBe(2);
  });

  it('have their latest definition', async () => {
    await given('m1', { type: 'CustomModelChanged', data: { modelId: 'm1', changes: { credentialsId: 'c2', enabled: false } } });
    expect(await queries.byId('m1')).toMatchObject({
      ownerId: 'alice',
      definition: { ...DEFINITION, credentialsId: 'c2', enabled: false },
    });
  });

  it('are removed when they are deleted', async () => {
    await given('m2', { type: 'CustomModelDeleted', data: { modelId: 'm2' } });
    expect([await queries.byId('m2'), await queries.countOf('alice')]).toEqual([undefined, 1]);
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.byId('m1');
    await model.again();
    expect(await queries.byId('m1')).toEqual(before);
    await model.expectSameAfterRebuild();
  });
});
