import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunEvent, runStream } from '../../src/background/runs/run.events.js';
import { type ConversationEvent, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { type WorkflowRunEvent, workflowRunStream } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { type Circumstances, projecting } from '../../test/support/projecting.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { ReadModels } from '../read-models.js';
import { traces } from './traces.projection.js';
import { TraceQueries } from './traces.queries.js';

const EVER = new Date(0);
const parts = { answer: '', thought: '', sources: [], toolCalls: [], structured: false };
const usage = { promptTokens: 3, completionTokens: 5 };
const call = (callId: string, step?: number) => ({
  callId,
  toolId: 't',
  toolName: 'ntfy',
  actionName: 'send',
  name: 'send',
  arguments: {},
  argumentsSha256: '',
  ...(step !== undefined && { step }),
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: TraceQueries;
type Traced = ConversationEvent | RunEvent | WorkflowRunEvent;
const given = (stream: string, events: readonly Traced[], circumstances?: Circumstances) =>
  model.given(stream, events, circumstances);

const asked = (conversationId: string, turnId: string, settings: object = {}): ConversationEvent[] => [
  {
    type: 'ConversationStarted',
    data: { conversationId, ownerId: 'ann', agentId: null, name: '', visibility: 'hidden', sharedUsage: false, history: [] },
  },
  {
    type: 'TurnAsked',
    data: {
      conversationId,
      turnId,
      index: 0,
      question: 'Why?',
      requestId: `request-${turnId}`,
      settings: turnSettings(settings),
    },
  },
];

const runs = (workflowRunId: string, turnId: string): WorkflowRunEvent[] => [
  {
    type: 'WorkflowRunStarted',
    data: {
      workflowRunId,
      workflowId: null,
      version: null,
      ownerId: 'ann',
      workflowOwnerId: 'ann',
      agentId: null,
      origin: { kind: 'turn', conversationId: 'c1', turnId },
      inputs: {},
      history: null,
      tools: [],
    },
  },
  {
    type: 'NodeStarted',
    data: { workflowRunId, step: 1, nodeId: 'start', nodeType: 'start', title: '', attempt: 1, fencingToken: 2 },
  },
  {
    type: 'NodeFailed',
    data: {
      workflowRunId,
      step: 1,
      nodeId: 'start',
      attempt: 1,
      error: 'No.',
      code: 'no',
      stateDelta: {},
      problems: [],
      toolCalls: [],
      artifactIds: [],
      usage: null,
    },
  },
];

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(traces, database.sql);
  queries = new TraceQueries(new ReadModels(database.sql));
  await given(conversationStream('c1'), asked('c1', 'm1', { agentType: 'workflow', configurationOwnerId: 'owner' }));
  await given(workflowRunStream('w1'), runs('w1', 'm1'));
  await given(conversationStream('c1'), [
    { type: 'ToolCallStarted', data: { conversationId: 'c1', turnId: 'm1', call: call('k1', 1) } },
    { type: 'ToolCallStarted', data: { conversationId: 'c1', turnId: 'm1', call: call('k2') } },
    { type: 'ToolCallFinished', data: { conversationId: 'c1', turnId: 'm1', callId: 'k1', status: 'completed', result: '' } },
    { type: 'TurnAnswered', data: { conversationId: 'c1', turnId: 'm1', ...parts, modelId: 'm', usage } },
  ]);
  await given(
    runStream('r1'),
    [
      { type: 'RunQueued', data: { runId: 'r1', ownerId: 'ann', agentId: 'a1', trigger: 'webhook', input: '' } },
      { type: 'RunStarted', data: { runId: 'r1', attempt: 1, settings: turnSettings({ agentId: 'a1' }) } },
      { type: 'RunFailed', data: { runId: 'r1', error: 'No.' } },
    ],
    { cause: { correlationId: 'delivery' } },
  );
});
afterAll(() => database.close());

describe('traces', () => {
  it('are found by each of their references, by the user who asked and by the owner of the agent', async () => {
    const wanted = [{ id: 'm1' }, { request_id: 'request-m1' }, { message_id: 'm1' }, { workflow_run_id: 'w1' }];
    for (const references of wanted)
      for (const user of ['ann', 'owner'])
        expect(await queries.find(user, references, EVER, 20)).toMatchObject([
          { id: 'm1', source: 'chat', name: 'workflow', status: 'ok', userId: 'ann', ...usage, endedAt: expect.any(Date) },
        ]);
    expect(await queries.find('ann', { request_id: 'delivery' }, EVER, 20)).toMatchObject([
      { id: 'r1', source: 'webhook', status: 'error', activityId: 'r1', messageId: null },
    ]);
  });

  it('are not found by other users, with a reference that does not match, or before the time limit', async () => {
    expect(await queries.find('bob', { id: 'm1' }, EVER, 20)).toEqual([]);
    expect(await queries.find('ann', { id: 'm1', activity_id: 'r1' }, EVER, 20)).toEqual([]);
    expect(await queries.find('ann', { id: 'm1' }, new Date('2027-01-01'), 20)).toEqual([]);
  });

  it('have their steps and calls, up to a limit', async () => {
    const spans = await queries.spansOf(['m1', 'w1'], 10);
    expect(spans.map(({ id, kind, name, step, status }) => [id, kind, name, step, status])).toEqual([
      ['step-1-1', 'node', 'start: start', 1, 'failed'],
      ['k1', 'tool', 'ntfy.send', 1, 'completed'],
      ['k2', 'tool', 'ntfy.send', null, 'running'],
    ]);
    expect(await queries.spansOf(['m1'], 1)).toMatchObject([{ id: 'k1' }]);
    expect([...(await queries.spanCounts(['m1', 'w1']))].sort()).toEqual([
      ['m1', 2],
      ['w1', 1],
    ]);
    expect([await queries.spansOf([], 1), (await queries.spanCounts([])).size]).toEqual([[], 0]);
  });

  it('are removed with their conversation or run, and are the same after a rebuild', async () => {
    await given(conversationStream('c2'), asked('c2', 'm2'));
    await given(conversationStream('c2'), [
      { type: 'ToolCallStarted', data: { conversationId: 'c2', turnId: 'm2', call: call('k3') } },
      { type: 'ConversationDeleted', data: { conversationId: 'c2' } },
    ]);
    expect(await queries.find('ann', { id: 'm2' }, EVER, 20)).toEqual([]);
    expect(await queries.spansOf(['m2'], 1)).toEqual([]);
    const purged = { runId: 'r1', ownerId: 'ann', agentId: 'a1', delivery: null, used: [], purgedAt: '2026-02-01T00:00:00.000Z' };
    await given(runStream('r1'), [{ type: 'RunPurged', data: { ...purged, trigger: 'webhook' } }]);
    expect(await queries.find('ann', { activity_id: 'r1' }, EVER, 20)).toEqual([]);
    await model.again();
    await model.expectSameAfterRebuild();
    await model.expectSameAfterRebuild(({ stream }) => stream !== conversationStream('c2') && stream !== runStream('r1'));
  });

  it('do not name workflow runs that are purged', async () => {
    const purged = { workflowRunId: 'w1', workflowId: null, ownerId: 'ann', blobs: [], artifactIds: [] };
    await given(workflowRunStream('w1'), [
      { type: 'WorkflowRunPurged', data: { ...purged, purgedAt: '2026-02-01T00:00:00.000Z' } },
    ]);
    expect(await queries.find('ann', { id: 'm1' }, EVER, 20)).toMatchObject([{ id: 'm1', workflowRunId: null }]);
    await model.expectSameAfterRebuild(({ stream, type }) => stream !== workflowRunStream('w1') || type === 'WorkflowRunPurged');
  });

  it('can have token counts beyond 32 bits', async () => {
    const used = { promptTokens: 3_000_000_000, completionTokens: 2 ** 40 };
    await given(conversationStream('c3'), asked('c3', 'm3'));
    await given(conversationStream('c3'), [
      { type: 'TurnAnswered', data: { conversationId: 'c3', turnId: 'm3', ...parts, modelId: 'm', usage: used } },
    ]);
    expect(await queries.find('ann', { id: 'm3' }, EVER, 20)).toMatchObject([used]);
  });
});
