import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultToolsStream } from '../../src/resources/tools/defaults/default-tools.events.js';
import { type ToolDefinition, type ToolEvent, toolStream } from '../../src/resources/tools/toolbox/tool.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { tools } from './tools.projection.js';
import { ToolQueries } from './tools.queries.js';

const definition: ToolDefinition = {
  name: 'ntfy',
  displayName: 'Messages',
  customName: '',
  description: 'Sends them',
  config: { zebra: 1, ant: { nul: '\0', half: '\ud800' } },
  credentialsId: 'c1',
  actions: [
    { name: 'send', description: '', active: true, parameters: { type: 'object', properties: { z: {}, a: { value: '\0' } } } },
  ],
  status: true,
};
const created = (toolId: string, ownerId: string, more: Partial<ToolDefinition> = {}): ToolEvent => ({
  type: 'ToolCreated',
  data: { toolId, ownerId, definition: { ...definition, ...more } },
});
const changed = (toolId: string, changes: Partial<ToolDefinition>): ToolEvent => ({
  type: 'ToolChanged',
  data: { toolId, changes },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: ToolQueries;
const given = (toolId: string, ...events: ToolEvent[]) => model.given(toolStream(toolId), events);
const ids = (records: readonly Readonly<{ id: string }>[]) => records.map(({ id }) => id);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(tools, database.sql);
  queries = new ToolQueries(new ReadModels(database.sql));
  await given('t1', created('t1', 'alice'));
  await given('t2', created('t2', 'alice', { customName: 'Nul\0', status: false }));
  await given('t3', created('t3', 'bob'));
});
afterAll(() => database.close());

describe('tools', () => {
  it('have their definition with the order of their parameters', async () => {
    const found = await queries.byId('t1');
    expect(found).toMatchObject({ ownerId: 'alice', revision: 0, definition: { displayName: 'Messages', credentialsId: 'c1' } });
    expect(found?.definition.config).toEqual({ zebra: 1, ant: { nul: '\uFFFD', half: '\uFFFD' } });
    expect(Object.keys(found!.definition.actions[0]!.parameters.properties)).toEqual(['z', 'a']);
    expect((await queries.byId('t2'))?.definition.customName).toBe('Nul\uFFFD');
  });

  it('are listed only for their owner', async () => {
    expect(ids(await queries.ownedBy('alice'))).toEqual(['t1', 't2']);
    expect(ids(await queries.ownedAmong('alice', ['t3', 't2', 'gone']))).toEqual(['t2']);
    expect([await queries.countOf('alice'), await queries.countOf('bob'), await queries.countOf('carol')]).toEqual([2, 1, 0]);
  });

  it('are used with the revision of their stream if they are switched on', async () => {
    expect(await queries.switchedOn('alice')).toEqual([{ id: 't1', revision: 0 }]);
    await given('t2', changed('t2', { status: true }), changed('t2', { config: {}, credentialsId: null }));
    expect(await queries.switchedOn('alice')).toEqual([
      { id: 't1', revision: 0 },
      { id: 't2', revision: 2 },
    ]);
    expect(await queries.switchedOn('alice', ['t2', 't3'])).toEqual([{ id: 't2', revision: 2 }]);
    expect(await queries.switchedOn('alice', [])).toEqual([]);
    expect((await queries.byId('t2'))?.definition).toMatchObject({ config: {}, credentialsId: null, displayName: 'Messages' });
  });

  it('are removed when they are deleted', async () => {
    await given('t2', { type: 'ToolDeleted', data: { toolId: 't2' } });
    expect([await queries.byId('t2'), ids(await queries.ownedBy('alice'))]).toEqual([undefined, ['t1']]);
  });

  it('of an import are found only by their ids until its agent is imported', async () => {
    await given('t9', { type: 'ToolCreated', data: { toolId: 't9', ownerId: 'dora', definition, importId: 'i1' } });
    expect([ids(await queries.ownedBy('dora')), await queries.switchedOn('dora')]).toEqual([[], []]);
    expect([ids(await queries.ownedAmong('dora', ['t9'])), await queries.switchedOn('dora', ['t9'])]).toEqual([
      ['t9'],
      [{ id: 't9', revision: 0 }],
    ]);
    const changed = { agentId: 'a1', updatedAt: '2026-03-02T08:00:00.000Z', changes: {} };
    const updated = (importId: string) => ({ type: 'AgentUpdated', data: { ...changed, importId } });
    await model.given('agent-a1', [updated('another'), { type: 'AgentUpdated', data: changed }]);
    expect(ids(await queries.ownedBy('dora'))).toEqual([]);
    await model.given('agent-a1', [updated('i1')]);
    expect([ids(await queries.ownedBy('dora')), await queries.switchedOn('dora')]).toEqual([['t9'], [{ id: 't9', revision: 0 }]]);
  });

  it('that are default tools can be switched off by each user', async () => {
    const off = (userId: string, name: string) => ({ type: 'DefaultToolSwitchedOff', data: { userId, name } });
    await model.given(defaultToolsStream('alice'), [off('alice', 'memory'), off('alice', 'read_webpage')]);
    await model.given(defaultToolsStream('bob'), [off('bob', 'memory')]);
    await model.given(defaultToolsStream('alice'), [
      { type: 'DefaultToolSwitchedOn', data: { userId: 'alice', name: 'memory' } },
    ]);
    expect([...(await queries.switchedOffDefaults('alice'))]).toEqual(['read_webpage']);
    expect([...(await queries.switchedOffDefaults('bob'))]).toEqual(['memory']);
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.byId('t1');
    await model.again();
    expect(await queries.byId('t1')).toEqual(before);
    await model.expectSameAfterRebuild();
  });
});
