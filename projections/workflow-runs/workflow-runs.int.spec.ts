import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type NodeCompleted,
  type WorkflowRunEvent,
  type WorkflowRunStarted,
  workflowRunStream,
} from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { workflowStream } from '../../src/resources/workflows/workflow.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { workflowRuns } from './workflow-runs.projection.js';
import { WorkflowRunQueries } from './workflow-runs.queries.js';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 9, minute));

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: WorkflowRunQueries;

const given = (workflowRunId: string, minute: number, ...events: WorkflowRunEvent[]) =>
  model.given(workflowRunStream(workflowRunId), events, { at: at(minute) });
const started = (workflowRunId: string, minute: number, more: Partial<WorkflowRunStarted['data']> = {}) =>
  given(
    workflowRunId,
    minute,
    {
      type: 'WorkflowRunStarted',
      data: {
        workflowRunId,
        workflowId: 'graph',
        version: 2,
        ownerId: 'ann',
        workflowOwnerId: 'bob',
        agentId: 'guide',
        origin: { kind: 'turn', conversationId: 'c1', turnId: 't1' },
        inputs: {},
        history: null,
        tools: [],
        ...more,
      },
    },
    {
      type: 'NodeStarted',
      data: { workflowRunId, step: 1, nodeId: 'n1', attempt: 1, nodeType: 'agent', title: 'Check\0 it', fencingToken: 2 },
    },
  );
const completed = (workflowRunId: string): NodeCompleted => ({
  type: 'NodeCompleted',
  data: {
    workflowRunId,
    step: 1,
    nodeId: 'n1',
    attempt: 1,
    output: null,
    stateDelta: {},
    problems: [],
    toolCalls: [],
    artifactIds: [],
    contribution: { answer: null, thought: null, sources: null, toolCalls: null },
    usage: null,
  },
});
const finished = (workflowRunId: string, minute: number) =>
  given(workflowRunId, minute, {
    type: 'WorkflowRunFinished',
    data: { workflowRunId, status: 'failed', reason: 'node_failed', error: 'It\0 broke.' },
  });
const deleted = (workflowId: string, minute: number) =>
  model.given(
    workflowStream(workflowId),
    [{ type: 'WorkflowDeleted', data: { workflowId, ownerId: 'bob', deletedAt: at(minute).toISOString() } }],
    { at: at(minute) },
  );

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(workflowRuns, database.sql);
  queries = new WorkflowRunQueries(new ReadModels(database.sql));
});
afterAll(() => database.close());

it('workflow runs are under way until they end, for the user they run for', async () => {
  await started('first', 1);
  await started('second', 2, { workflowId: null, version: null, origin: { kind: 'run', runId: 'r1' } });
  await given(
    'first',
    3,
    completed('first'),
    {
      type: 'NodeStarted',
      data: { workflowRunId: 'first', step: 2, nodeId: 'n2', attempt: 1, nodeType: 'agent', title: 'Ask', fencingToken: 2 },
    },
    { type: 'NodeWaiting', data: { workflowRunId: 'first', step: 2, nodeId: 'n2', attempt: 1, callIds: ['k1'] } },
  );
  const under = await queries.underWay('ann', 10);
  expect(under.map(({ id, runId, nodeTitle }) => [id, runId, nodeTitle])).toEqual([
    ['second', 'r1', 'Check\uFFFD it'],
    ['first', null, 'Ask'],
  ]);
  expect(under[1]).toEqual({
    id: 'first',
    workflowId: 'graph',
    version: 2,
    ownerId: 'ann',
    workflowOwnerId: 'bob',
    agentId: 'guide',
    conversationId: 'c1',
    turnId: 't1',
    runId: null,
    status: 'running',
    reason: null,
    error: null,
    steps: 1,
    nodeTitle: 'Ask',
    waits: true,
    startedAt: at(1),
    endedAt: null,
  });
  expect(await queries.underWay('bob', 10)).toEqual([]);
  await finished('first', 4);
  expect((await queries.underWay('ann', 10)).map(({ id }) => id)).toEqual(['second']);
});

it('workflow runs are purgeable once they have ended and their workflow is deleted, in either order', async () => {
  await started('running', 10, { workflowId: 'gone' });
  await started('over', 11, { workflowId: 'gone' });
  await finished('over', 12);
  expect(await queries.ofDeletedWorkflows(10, undefined)).toEqual([]);
  await deleted('gone', 13);
  expect(await queries.ofDeletedWorkflows(10, undefined)).toEqual([{ id: 'over', since: at(13) }]);
  expect(await queries.overOf('gone', 10)).toEqual(['over']);
  await finished('running', 14);
  await started('late', 15, { workflowId: 'gone' });
  await finished('late', 16);
  const due = await queries.ofDeletedWorkflows(2, undefined);
  expect(due.map(({ id }) => id)).toEqual(['late', 'over']);
  expect((await queries.ofDeletedWorkflows(2, due.at(-1))).map(({ id }) => id)).toEqual(['running']);
  const purged = { workflowId: 'gone', ownerId: 'ann', blobs: [], artifactIds: [], purgedAt: at(17).toISOString() };
  await given('over', 17, { type: 'WorkflowRunPurged', data: { workflowRunId: 'over', ...purged } });
  expect((await queries.ofDeletedWorkflows(10, undefined)).map(({ id }) => id)).toEqual(['late', 'running']);
});

it('the read model is unchanged by repeated events and the same after a rebuild', async () => {
  await model.again();
  await model.expectSameAfterRebuild();
});
