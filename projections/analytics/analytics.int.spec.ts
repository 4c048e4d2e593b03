import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunEvent, runStream } from '../../src/background/runs/run.events.js';
import { type ConversationEvent, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { type MonitorEvent, monitorStream } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { ReadModels } from '../read-models.js';
import { analytics } from './analytics.projection.js';
import { AnalyticsQueries } from './analytics.queries.js';

const window = {
  since: new Date('2026-11-01T00:00:00Z'),
  until: new Date('2026-11-30T00:00:00Z'),
  format: 'YYYY-MM-DD',
};
const at = (time: string) => ({ at: new Date(`2026-11-${time}Z`) });
const usage = (promptTokens: number, completionTokens: number) => ({ promptTokens, completionTokens });
const call = (toolName: string, status: string) => ({ tool_name: toolName, action_name: 'x', status });
const parts = { answer: 'Because.', thought: '', sources: [], structured: false };

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: AnalyticsQueries;

async function asked(time: string, id: string, ownerId: string, agentId: string | null) {
  const start = { ownerId, agentId, name: 'x', visibility: 'listed', sharedUsage: false, history: [] } as const;
  const turn = { turnId: id, index: 0, question: 'Why?', requestId: 'r', settings: turnSettings({ agentId, modelId: 'm1' }) };
  await told(time, id, { type: 'ConversationStarted', data: { conversationId: id, ...start } });
  await told(time, id, { type: 'TurnAsked', data: { conversationId: id, ...turn } });
}
const told = (time: string, id: string, event: ConversationEvent) => model.given(conversationStream(id), [event], at(time));
const ran = (time: string, id: string, event: RunEvent) => model.given(runStream(id), [event], at(time));
const checked = (time: string, id: string, event: MonitorEvent) => model.given(monitorStream(id), [event], at(time));

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(analytics, database.sql);
  queries = new AnalyticsQueries(new ReadModels(database.sql));
  await asked('02T10:00:00', 'c1', 'ann', 'helper');
  const pause = { calls: [], expiresAt: '2026-11-30T00:00:00Z', lastId: 1, continuation: { text: '{}' } };
  const about = { conversationId: 'c1', turnId: 'c1', ...parts };
  await told('02T10:01:00', 'c1', {
    type: 'TurnPaused',
    data: { ...about, ...pause, toolCalls: [], modelId: 'm1', usage: usage(3, 1) },
  });
  const toolCalls = [call('brave', 'completed'), call('brave', 'error'), call('ntfy', 'denied'), call('memory', 'completed')];
  await told('03T10:00:00', 'c1', {
    type: 'TurnAnswered',
    data: { ...about, toolCalls, modelId: 'm2', usage: usage(10, 5) },
  });
  await asked('03T10:00:00', 'c2', 'bob', 'helper');
  await told('03T10:00:00', 'c2', {
    type: 'TurnFailed',
    data: {
      ...about,
      conversationId: 'c2',
      turnId: 'c2',
      toolCalls: [call('brave', 'error')],
      error: 'No.',
      code: null,
      usage: usage(7, 0),
    },
  });
  await asked('04T10:00:00', 'c3', 'ann', null);
  await ran('05T10:00:00', 'r1', {
    type: 'RunQueued',
    data: { runId: 'r1', ownerId: 'ann', agentId: 'helper', trigger: 'webhook', input: 'secret' },
  });
  await ran('05T10:00:01', 'r1', {
    type: 'RunAttemptAbandoned',
    data: { runId: 'r1', attempt: 1, modelId: 'm1', usage: usage(1, 1) },
  });
  await ran('05T10:00:02', 'r1', {
    type: 'RunFinished',
    data: {
      runId: 'r1',
      attempt: 2,
      ...parts,
      toolCalls: [call('ntfy', 'completed')],
      modelId: 'm1',
      usage: usage(2, 2),
      error: null,
    },
  });
  const definition = { scheduleId: null } as never;
  await checked('06T10:00:00', 'w1', {
    type: 'MonitorCreated',
    data: { monitorId: 'w1', ownerId: 'ann', agentId: null, definition, createdAt: '', nextCheckAt: '' } as never,
  });
  await checked('06T10:00:01', 'w1', { type: 'MonitorChecked', data: { monitorId: 'w1', usage: usage(4, 0) } as never });
});
afterAll(() => database.close());

const tokens = async (
  scope: Parameters<AnalyticsQueries['tokens']>[0],
  by: Parameters<AnalyticsQueries['tokens']>[2],
  all = true,
) =>
  (await queries.tokens(scope, window, by, all)).map(({ bucket, group, prompt, generated }) => [
    bucket,
    group,
    prompt,
    generated,
  ]);

describe('analytics', () => {
  it('count the tokens of a turn at the time of its last usage, and the tokens of each attempt of a run', async () => {
    expect(await tokens({ ownerId: 'ann' }, 'none')).toEqual([
      ['2026-11-03', null, 10, 5],
      ['2026-11-05', null, 3, 3],
      ['2026-11-06', null, 4, 0],
    ]);
    expect(await tokens({ ownerId: 'ann' }, 'source', false)).toEqual([
      ['2026-11-03', 'chat', 10, 5],
      ['2026-11-05', 'webhook', 3, 3],
    ]);
    expect(await tokens({ ownerId: 'ann' }, 'model')).toEqual([
      ['2026-11-03', 'm2', 10, 5],
      ['2026-11-05', 'm1', 3, 3],
      ['2026-11-06', null, 4, 0],
    ]);
    expect(await tokens({ ownerId: 'eve' }, 'agent')).toEqual([]);
  });

  it('count for an agent the usage of all users', async () => {
    expect(await tokens({ agentId: 'helper' }, 'agent')).toEqual([
      ['2026-11-03', 'helper', 17, 5],
      ['2026-11-05', 'helper', 3, 3],
    ]);
    expect(await queries.tools({ agentId: 'helper' }, window)).toEqual([
      { toolName: 'brave', calls: 3, failures: 2 },
      { toolName: 'memory', calls: 1, failures: 0 },
      { toolName: 'ntfy', calls: 1, failures: 0 },
    ]);
  });

  it('keep the tokens but not the tools of a deleted conversation, and the tokens but not the models of a purged run', async () => {
    await told('10T10:00:00', 'c1', { type: 'ConversationDeleted', data: { conversationId: 'c1' } });
    expect(await tokens({ ownerId: 'ann' }, 'none')).toHaveLength(3);
    expect(await queries.tools({ ownerId: 'ann' }, window)).toEqual([{ toolName: 'ntfy', calls: 1, failures: 0 }]);
    const used = [
      { revision: 1, at: '2026-11-05T10:00:01.000Z', requests: 0, promptTokens: 1, completionTokens: 1 },
      { revision: 2, at: '2026-11-05T10:00:02.000Z', requests: 0, promptTokens: 2, completionTokens: 2 },
    ];
    const purged = { runId: 'r1', ownerId: 'ann', agentId: 'helper', trigger: 'webhook', delivery: null, used } as const;
    await ran('11T10:00:00', 'r1', { type: 'RunPurged', data: { ...purged, purgedAt: '2026-11-11T10:00:00.000Z' } });
    expect(await tokens({ ownerId: 'ann' }, 'model')).toContainEqual(['2026-11-05', null, 3, 3]);
    expect(await queries.tools({ ownerId: 'ann' }, window)).toEqual([]);
  });

  it('drop the tools of two conversations that are deleted in short succession', async () => {
    await asked('12T10:00:00', 'c4', 'ann', null);
    await asked('12T10:00:00', 'c5', 'ann', null);
    await told('12T10:00:01', 'c4', { type: 'ConversationDeleted', data: { conversationId: 'c4' } });
    const about = { conversationId: 'c5', turnId: 'c5', ...parts, toolCalls: [call('memory', 'completed')] };
    await told('12T10:00:02', 'c5', { type: 'TurnAnswered', data: { ...about, modelId: 'm1', usage: usage(1, 1) } });
    await told('12T10:00:03', 'c5', { type: 'ConversationDeleted', data: { conversationId: 'c5' } });
    expect(await queries.tools({ ownerId: 'ann' }, window)).toEqual([]);
  });

  it('are unchanged by repeated events and the same after a rebuild, also if only the purge of a run is left', async () => {
    await model.again();
    await model.expectSameAfterRebuild();
    await model.expectSameAfterRebuild(({ stream, type }) => stream !== runStream('r1') || type === 'RunPurged');
  });
});
