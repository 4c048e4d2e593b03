import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { append } from '../../../test/support/accounts.js';
import { type Client } from '../../../test/support/client.js';
import { eventually } from '../../../test/support/eventually.js';
import { endOf, taskOf, webhookPath } from '../../../test/support/webhooks.js';
import { agentNode, around, type GraphBody, node } from '../../../test/support/workflow-graphs.js';
import { openWorld, replyOf, type World } from '../../../test/support/world.js';
import { workflowRunStream, type WorkflowRunStarted } from '../../dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { newId } from '../../kernel/ids.js';

type Row = Readonly<Record<string, unknown>>;
type Now = Readonly<{ running: readonly Row[]; counts: Readonly<{ by_kind: Readonly<Record<string, unknown>> }> }>;

const FAILING = around(node('state', 'set', { operations: [{ expression: 'missing + 1', target_variable: 'a' }] }));

let world: World;
let client: Client;
beforeAll(async () => {
  world = await openWorld({});
  client = await world.as('runner');
});
afterAll(() => world.close());

const saved = async (name: string, graph: GraphBody) => {
  const { body } = await replyOf(client.post('/api/workflows', { name, ...graph }));
  return (body as { data: { id: string } }).data.id;
};
const agentFor = async (name: string, workflow: string) => {
  const { body } = await replyOf(
    client.post('/api/create_agent', { name, agent_type: 'workflow', status: 'published', workflow }),
  );
  return body as { id: string };
};
const history = async (query: string) => (await client.json<{ runs: readonly Row[] }>(`/api/activity/history?${query}`)).runs;
const now = () => client.json<Now>('/api/activity/now');

describe('workflow runs', () => {
  it('are in the history and are counted, also if a webhook started them', async () => {
    const [good, bad] = [await saved('Answer', around(agentNode())), await saved('Break', FAILING)];
    const [answerer, breaker] = [await agentFor('Answerer', good), await agentFor('Breaker', bad)];
    await client.stream({ question: 'Why?', agent_id: answerer.id });
    await client.stream({ question: 'Why?', agent_id: breaker.id });
    const hook = await webhookPath(client, answerer.id);
    await endOf(world.nobody, await taskOf(world.nobody.post(hook, '{"n":1}')));
    await eventually(async () => (await history('kind=workflow')).length === 3);
    const titles = async (query: string) => (await history(`kind=workflow&${query}`)).map(({ title, status }) => [title, status]);
    expect(await titles('')).toEqual([
      ['Answerer', 'success'],
      ['Breaker', 'failed'],
      ['Answerer', 'success'],
    ]);
    expect(await titles('status=failed')).toEqual([['Breaker', 'failed']]);
    expect(await titles('q=ANSWER')).toHaveLength(2);
    expect(await titles('q=Break&status=success')).toEqual([]);
    const [byWebhook, failed] = await history('kind=workflow');
    expect(failed).toEqual({
      kind: 'workflow',
      id: expect.any(String),
      title: 'Breaker',
      status: 'failed',
      at: expect.stringMatching(/Z$/),
      started_at: expect.stringMatching(/Z$/),
      finished_at: expect.stringMatching(/Z$/),
      duration_ms: expect.any(Number),
      agent_id: breaker.id,
      conversation_id: expect.any(String),
      error: expect.stringContaining('missing'),
      error_type: 'node_failed',
      workflow_run_id: failed!['id'],
      workflow_id: bad,
      message_id: expect.any(String),
      run_id: null,
    });
    expect(byWebhook).toMatchObject({ workflow_id: good, conversation_id: null, message_id: null, run_id: expect.any(String) });
    const { counts } = await now();
    expect(counts.by_kind).toMatchObject({ workflow: { runs: 3, failed: 1 }, webhook: { runs: 1, failed: 0 } });
    expect(await (await world.as('a-stranger')).json('/api/activity/history?kind=workflow')).toMatchObject({ runs: [] });
  });

  it('are shown while they run', async () => {
    const workflowRunId = newId();
    const ownerId = await world.idOf('runner');
    const started: WorkflowRunStarted = {
      type: 'WorkflowRunStarted',
      data: {
        workflowRunId,
        workflowId: null,
        version: null,
        ownerId,
        workflowOwnerId: ownerId,
        agentId: null,
        origin: { kind: 'turn', conversationId: newId(), turnId: newId() },
        inputs: {},
        history: null,
        tools: [],
      },
    };
    await append(world.backing.store, workflowRunStream(workflowRunId), started);
    await eventually(async () => (await now()).running.length === 1);
    expect((await now()).running).toMatchObject([
      { kind: 'workflow', title: 'Workflow', status: 'running', workflow_run_id: workflowRunId },
    ]);
  });
});
