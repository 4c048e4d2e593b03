import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { tokenFor } from '../../../test/support/access-tokens.js';
import { type Client, messageIdIn } from '../../../test/support/client.js';
import { eventually } from '../../../test/support/eventually.js';
import { endOf, taskOf, webhookPath } from '../../../test/support/webhooks.js';
import { agentNode, around } from '../../../test/support/workflow-graphs.js';
import { openWorld, replyOf, type World } from '../../../test/support/world.js';
import { newId } from '../../kernel/ids.js';

type Trace = Readonly<Record<string, unknown>>;

let world: World;
beforeAll(async () => {
  world = await openWorld({});
});
afterAll(() => world.close());

const tracesOf = async (query: string, client: Client = world.alice) =>
  (await client.json<{ traces: readonly Trace[] }>(`/api/traces?${query}`)).traces;

async function workflowAgent() {
  const { body } = await replyOf(world.alice.post('/api/workflows', { name: 'Answer', ...around(agentNode()) }));
  const workflow = (body as { data: { id: string } }).data.id;
  const fields = { name: 'Answerer', agent_type: 'workflow', status: 'published', workflow };
  return (await replyOf(world.alice.post('/api/create_agent', fields))).body as { id: string; key: string };
}

describe('traces', () => {
  it('show the steps of a workflow’s answer, by any of its references', async () => {
    const { id } = await workflowAgent();
    const streamed = await world.alice.stream({ question: 'Why?', agent_id: id });
    const messageId = messageIdIn(streamed);
    const workflowRunId = streamed.frames.find(({ data }) => data.type === 'workflow_run')!.data['workflow_run_id'] as string;
    await eventually(async () => (await tracesOf(`message_id=${messageId}`))[0]?.['status'] === 'ok');
    const [trace] = await tracesOf(`message_id=${messageId}`);
    expect(trace).toEqual({
      id: messageId,
      request_id: streamed.frames[0]!.data['request_id'],
      message_id: messageId,
      conversation_id: expect.any(String),
      activity_id: null,
      workflow_run_id: workflowRunId,
      user_id: await world.idOf('alice'),
      agent_id: id,
      source: 'chat',
      name: 'workflow',
      status: 'ok',
      started_at: expect.stringMatching(/Z$/),
      duration_ms: expect.any(Number),
      span_count: 3,
      dropped_spans: 0,
      summary: expect.objectContaining({ model_id: expect.any(String) }),
      spans: ['start: start', 'agent: agent', 'end: end'].map((name, at) => ({
        id: `step-${at + 1}-1`,
        kind: 'node',
        name,
        step: at + 1,
        status: 'completed',
        started_at: expect.stringMatching(/Z$/),
        duration_ms: expect.any(Number),
      })),
      otel_trace_id: null,
    });
    for (const reference of [`id=${messageId}`, `request_id=${String(trace!['request_id'])}`, `workflow_run_id=${workflowRunId}`])
      expect(await tracesOf(`${reference}&limit=100`)).toEqual([trace]);
    expect(await tracesOf(`message_id=${messageId}`, world.bob)).toEqual([]);
  });

  it('show runs that a webhook started', async () => {
    const agent = await world.agent({});
    const taskId = await taskOf(world.nobody.post(await webhookPath(world.alice, agent.id), '{"n":1}'));
    await endOf(world.nobody, taskId);
    await eventually(async () => (await tracesOf(`activity_id=${taskId}`))[0]?.['status'] === 'ok');
    expect(await tracesOf(`activity_id=${taskId}`)).toMatchObject([
      { id: taskId, source: 'webhook', name: 'classic', agent_id: agent.id },
    ]);
  });

  it.each([
    ['', 'One of id, request_id, message_id, activity_id, workflow_run_id is required'],
    ['message_id=a&message_id=b', 'message_id must be an id'],
    ['id=a&limit=0', 'limit must be a whole number from 1 on'],
    ['id=a&limit=many', 'limit must be a whole number from 1 on'],
  ])('are not found by "%s"', async (query, message) => {
    const { status, body } = await replyOf(world.alice.get(`/api/traces?${query}`));
    expect([status, body]).toEqual([400, { success: false, message }]);
  });

  it('are available to users and to unrestricted tokens with the scope', async () => {
    expect((await world.nobody.get('/api/traces?id=a')).status).toBe(401);
    const { client } = await tokenFor(world, { scopes: ['analytics:read'] });
    expect(await tracesOf('id=a', client)).toEqual([]);
    const others = [
      { scopes: ['chat:run'] },
      { scopes: ['analytics:read', 'sources:read'], resource_filter: { sources: [newId()] } },
    ];
    for (const fields of others) expect((await (await tokenFor(world, fields)).client.get('/api/traces?id=a')).status).toBe(403);
  });
});
