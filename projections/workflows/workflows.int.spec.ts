import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentEvent } from '../../src/resources/agents/agent.events.js';
import { type WorkflowContent, type WorkflowEvent, workflowStream } from '../../src/resources/workflows/workflow.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { workflows } from './workflows.projection.js';
import { WorkflowQueries } from './workflows.queries.js';

const content = (workflowId: string, ownerId: string, more: Partial<WorkflowContent> = {}): WorkflowContent => ({
  workflowId,
  ownerId,
  name: workflowId,
  description: 'Nul\0',
  version: 1,
  graph: { inline: { nodes: [], edges: [] } },
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...more,
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: WorkflowQueries;
const given = (workflowId: string, ...events: WorkflowEvent[]) => model.given(workflowStream(workflowId), events);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(workflows, database.sql);
  queries = new WorkflowQueries(new ReadModels(database.sql));
  await given('w1', { type: 'WorkflowCreated', data: content('w1', 'alice') });
  await given('w2', { type: 'WorkflowCreated', data: content('w2', 'alice') });
  await given('w3', { type: 'WorkflowCreated', data: content('w3', 'bob') });
});
afterAll(() => database.close());

describe('workflows', () => {
  it('have their latest content', async () => {
    expect(await queries.byId('w1')).toMatchObject({ ownerId: 'alice', name: 'w1', description: 'Nul\uFFFD', version: 1 });
    const updatedAt = '2026-01-02T00:00:00.000Z';
    await given('w1', { type: 'WorkflowChanged', data: content('w1', 'alice', { name: 'New', version: 2, updatedAt }) });
    expect(await queries.byId('w1')).toMatchObject({ name: 'New', version: 2, updatedAt: new Date(updatedAt) });
  });

  it('have names only for their owner and until they are deleted', async () => {
    expect([...(await queries.namesOf('alice'))]).toEqual([
      ['w1', 'New'],
      ['w2', 'w2'],
    ]);
    await given('w2', {
      type: 'WorkflowDeleted',
      data: { workflowId: 'w2', ownerId: 'alice', deletedAt: '2026-01-03T00:00:00.000Z' },
    });
    expect([await queries.byId('w2'), (await queries.namesOf('alice')).size]).toEqual([undefined, 1]);
  });

  it('change after an import only when its agent is imported, and not if their owner has changed them since', async () => {
    const updatedAt = '2026-01-04T00:00:00.000Z';
    const imported = (importId: string, name: string): WorkflowEvent => ({
      type: 'WorkflowChanged',
      data: { ...content('w3', 'bob', { name, version: 2, updatedAt, importId }), awaitsImport: true },
    });
    const said = (importId: string): AgentEvent => ({
      type: 'AgentUpdated',
      data: { agentId: 'a1', updatedAt, changes: {}, importId },
    });
    await given('w3', imported('i1', 'Imported'));
    expect(await queries.byId('w3')).toMatchObject({ name: 'w3', version: 1 });
    await model.given('agent-a1', [said('i2')]);
    expect(await queries.byId('w3')).toMatchObject({ name: 'w3', version: 1 });
    await model.given('agent-a1', [said('i1')]);
    expect(await queries.byId('w3')).toMatchObject({ name: 'Imported', version: 2, updatedAt: new Date(updatedAt) });
    await given('w3', imported('i3', 'Late'));
    await given('w3', { type: 'WorkflowChanged', data: content('w3', 'bob', { name: 'Own', version: 3, importId: 'i3' }) });
    await model.given('agent-a1', [said('i3')]);
    expect(await queries.byId('w3')).toMatchObject({ name: 'Own', version: 3 });
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.byId('w1');
    await model.again();
    expect(await queries.byId('w1')).toEqual(before);
    await model.expectSameAfterRebuild();
  });
});
