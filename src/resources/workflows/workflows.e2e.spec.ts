import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Client } from '../../../test/support/client.js';
import { eventually } from '../../../test/support/eventually.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';
import { agentNode, around, BROKEN_GRAPHS, type GraphBody, SOUND_GRAPHS } from '../../../test/support/workflow-graphs.js';
import { newId } from '../../kernel/ids.js';
import { SessionTokens } from '../identity/session-tokens.js';
import { defaultToolId } from '../tools/defaults/default-tools.policy.js';
import { WorkflowGraphs } from './workflow-graphs.port.js';

let service: TestService;
let alice: Client;
let bob: Client;

type Reply = Readonly<{ status: number; body: Record<string, unknown>; headers: Headers }>;

async function send(method: string, path: string, body?: unknown, as = alice): Promise<Reply> {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await as.request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> };
}

const clientOf = async (userId: string) => {
  const tokens = service.service.app.get(SessionTokens, { strict: false });
  return new Client(service.url, { authorization: `Bearer ${await tokens.issue({ subject: userId, roles: [] })}` });
};

beforeAll(async () => {
  service = await serviceForTests({ AUTH_TYPE: 'session_jwt' });
  [alice, bob] = [await clientOf('alice'), await clientOf('bob')];
});
afterAll(() => service.close());

const plain = SOUND_GRAPHS[0]![1];
const save = async (graph: GraphBody = plain, name = 'Check', as = alice) => {
  const { status, body } = await send('POST', '/api/workflows', { name, ...graph }, as);
  expect([status, body]).toEqual([201, { success: true, data: { id: expect.any(String) } }]);
  return (body['data'] as { id: string }).id;
};
const load = async (id: string) => (await send('GET', `/api/workflows/${id}`)).body['data'] as Record<string, unknown>;
const events = async () => {
  const rows = await service.database.sql`select count(*)::int as n from event_store.event where type like 'Workflow%'`;
  return rows[0]!['n'] as number;
};
const graphAt = (id: string, version: number) => service.service.app.get(WorkflowGraphs, { strict: false }).graphAt(id, version);

describe('a workflow', () => {
  it('is saved completely and shown immediately', async () => {
    const tool = defaultToolId('memory');
    const source = newId();
    const id = await save(
      around(agentNode({ config: { tools: [tool], sources: [], prompt_template: '{{ agent.query }} ✓' } })),
      ' Mine ',
    );
    expect(await load(id)).toEqual({
      workflow: {
        id,
        name: 'Mine',
        description: '',
        version: 1,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
      nodes: [
        { id: 'start', type: 'start', title: 'start', description: '', position: { x: 0, y: 0 }, data: {} },
        expect.objectContaining({
          id: 'agent',
          data: { config: { tools: [tool], sources: [], prompt_template: '{{ agent.query }} ✓' } },
        }),
        expect.objectContaining({ id: 'end' }),
      ],
      edges: [
        { id: 'start--agent', source: 'start', target: 'agent', sourceHandle: null, targetHandle: null },
        expect.objectContaining({ id: 'agent--end' }),
      ],
      resource_sponsors: [],
      resource_states: [],
      ref_details: { tools: [{ id: tool, name: 'memory', display_name: 'Memory' }], sources: [] },
    });
    const foreign = { nodes: around(agentNode({ sources: [source] })) };
    expect(await send('PUT', `/api/workflows/${id}`, { name: 'Mine', ...foreign.nodes })).toMatchObject({
      status: 404,
      body: { success: false, error: 'Source not accessible' },
    });
    const tools = around(agentNode({ tools: [newId()] }));
    expect(await send('POST', '/api/workflows', { name: 'Mine', ...tools })).toMatchObject({
      status: 404,
      body: { error: 'Tool not accessible' },
    });
  });

  it('is replaced by a new version while the older ones are kept', async () => {
    const id = await save(plain);
    const { body, headers } = await send('PUT', `/api/workflows/${id}`, { name: 'New', ...around(agentNode()) });
    expect([body, headers.get('x-position')]).toEqual([{ success: true }, expect.stringMatching(/^\d+$/)]);
    expect(await load(id)).toMatchObject({ workflow: { name: 'New', version: 2 }, nodes: [{}, { id: 'agent' }, {}] });
    expect([(await graphAt(id, 1))?.nodes.length, (await graphAt(id, 2))?.nodes.length, await graphAt(id, 3)]).toEqual([
      2,
      3,
      undefined,
    ]);
    const before = await events();
    await send('PUT', `/api/workflows/${id}`, { name: 'New', ...around(agentNode()) });
    expect(await events()).toBe(before);
    await send('PUT', `/api/workflows/${id}`, { name: 'Newer', ...around(agentNode()) });
    expect(await load(id)).toMatchObject({ workflow: { name: 'Newer', version: 2 } });
  });

  it('may be larger than an event', async () => {
    const large = around(agentNode({ config: { system_prompt: 'ä'.repeat(90_000) } }));
    const id = await save(large);
    expect((await load(id))['nodes']).toMatchObject([{}, { data: { config: { system_prompt: 'ä'.repeat(90_000) } } }, {}]);
    const before = await events();
    expect((await send('PUT', `/api/workflows/${id}`, { name: 'Check', ...large })).status).toBe(200);
    expect(await events()).toBe(before);
  });

  it.each(SOUND_GRAPHS)('is accepted, and saving what is shown changes nothing: %s', async (_, graph) => {
    const id = await save(graph);
    const { nodes, edges } = await load(id);
    const before = await events();
    expect((await send('PUT', `/api/workflows/${id}`, { name: 'Check', nodes, edges })).status).toBe(200);
    expect(await events()).toBe(before);
  });

  it('cannot be read after its deletion, but its graph is kept for runs', async () => {
    const id = await save();
    expect(await send('DELETE', `/api/workflows/${id}`)).toMatchObject({ status: 200, body: { success: true } });
    expect(await send('GET', `/api/workflows/${id}`)).toMatchObject({ status: 404, body: { error: 'Workflow not found' } });
    expect((await send('DELETE', `/api/workflows/${id}`)).status).toBe(404);
    expect(await graphAt(id, 1)).toBeDefined();
  });

  it('is accessible to its owner only', async () => {
    const id = await save();
    const refused = { status: 404, body: { success: false, message: 'Workflow not found', error: 'Workflow not found' } };
    for (const unknown of [id, newId(), 'x'])
      for (const [method, body] of [['GET'], ['PUT', { name: 'Mine', ...plain }], ['DELETE']] as const)
        expect(await send(method, `/api/workflows/${unknown}`, body, bob)).toMatchObject(refused);
    expect((await send('POST', '/api/workflows', { name: 'x' }, new Client(service.url))).status).toBe(401);
  });
});

describe('a workflow is refused', () => {
  it.each(BROKEN_GRAPHS)('for %s, and nothing is stored', async (_, graph, expected) => {
    const before = await events();
    const { status, body } = await send('POST', '/api/workflows', { name: 'Broken', ...(graph as object) });
    expect([status, body['success']]).toEqual([400, false]);
    if (body['errors']) {
      expect(body['error']).toBe('Workflow validation failed');
      expect(body['errors']).toHaveLength(expected.length);
    }
    expect(await events()).toBe(before);
  });

  it('without a name', async () => {
    expect(await send('POST', '/api/workflows', plain)).toMatchObject({
      status: 400,
      body: { message: 'Missing required fields: name' },
    });
  });

  it('if its owner sends an invalid graph, and stays unchanged', async () => {
    const id = await save();
    const { status, body } = await send('PUT', `/api/workflows/${id}`, { name: 'Broken', nodes: [], edges: [] });
    expect([status, body]).toEqual([
      400,
      {
        success: false,
        message: 'Workflow validation failed: Workflow must have at least one node',
        error: 'Workflow validation failed',
        errors: ['Workflow must have at least one node'],
      },
    ]);
    expect(await load(id)).toMatchObject({ workflow: { name: 'Check', version: 1 } });
  });

  it('for any invalid JSON without a server error', async () => {
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ name: fc.jsonValue(), description: fc.jsonValue(), nodes: fc.jsonValue(), edges: fc.jsonValue() }),
      fc.record({ name: fc.constant('x'), nodes: fc.array(fc.jsonValue()), edges: fc.array(fc.jsonValue()) }),
    );
    const before = await events();
    await fc.assert(
      fc.asyncProperty(body, async (some) => {
        expect((await send('POST', '/api/workflows', some)).status).toBe(400);
      }),
      { numRuns: 150 },
    );
    expect(await events()).toBe(before);
  });
});

describe('an agent with a workflow', () => {
  const make = (fields: object) => send('POST', '/api/create_agent', { name: 'Runner', agent_type: 'workflow', ...fields });
  const made = async (fields: object) => (await make(fields)).body as { id: string; key: string };

  it('can be published with only a name and a workflow', async () => {
    const workflow = await save();
    const { id, key } = await made({ status: 'published', workflow });
    expect(key).not.toBe('');
    expect((await send('GET', `/api/get_agent?id=${id}`)).body).toMatchObject({
      agent_type: 'workflow',
      workflow,
      status: 'published',
    });
  });

  it('cannot be published without a workflow', async () => {
    for (const fields of [{}, { workflow: '' }, { workflow: null }])
      expect(await make({ status: 'published', ...fields })).toMatchObject({
        status: 400,
        body: { message: 'Missing required fields: workflow' },
      });
    const { id } = await made({ status: 'draft' });
    expect(await send('PUT', `/api/update_agent/${id}`, { status: 'published' })).toMatchObject({
      status: 400,
      body: { message: 'Cannot publish workflow agent. Missing required fields: Workflow' },
    });
    const workflow = await save();
    expect((await send('PUT', `/api/update_agent/${id}`, { status: 'published', workflow })).status).toBe(200);
    expect((await send('PUT', `/api/update_agent/${id}`, { workflow: null })).status).toBe(400);
  });

  it('cannot use another user’s workflow', async () => {
    for (const workflow of [await save(plain, 'Theirs', bob), newId(), 'x'])
      expect(await make({ status: 'published', workflow })).toMatchObject({
        status: 404,
        body: { message: 'Workflow not found' },
      });
  });

  it('prevents the deletion of its workflow, which is deleted with its last agent', async () => {
    const workflow = await save();
    const [one, two] = [await made({ status: 'draft', workflow }), await made({ status: 'published', workflow })];
    const { status, body } = await send('DELETE', `/api/workflows/${workflow}`);
    expect([status, body]).toEqual([
      409,
      expect.objectContaining({
        success: false,
        error: 'The workflow is used by 2 agents',
        code: 'workflow_in_use',
        agents: [one, two].map(({ id }) => ({ id, name: 'Runner' })),
      }),
    ]);
    await send('DELETE', `/api/delete_agent?id=${one.id}`);
    await send('PUT', `/api/update_agent/${two.id}`, { name: 'Still there' });
    expect((await send('GET', `/api/workflows/${workflow}`)).status).toBe(200);
    await send('DELETE', `/api/delete_agent?id=${two.id}`);
    await eventually(async () => (await send('GET', `/api/workflows/${workflow}`)).status === 404);
  });
});

describe('a question', () => {
  const ask = async (body: object, as = alice) => {
    const response = await as.post('/stream', { question: 'Why?', ...body });
    return { status: response.status, text: await response.text() };
  };
  const lastSettings = async () => {
    const rows = await service.database
      .sql`select data from event_store.event where type = 'TurnAsked' order by position desc limit 1`;
    return (JSON.parse(rows[0]!['data'] as string) as { settings: Record<string, unknown> }).settings;
  };
  const agentFor = async (workflow: string | null, status = 'published') => {
    const { body } = await send('POST', '/api/create_agent', { name: 'Runner', agent_type: 'workflow', status, workflow });
    return body as { id: string; key: string };
  };

  it('to an agent with a workflow pins the current version', async () => {
    const workflow = await save();
    const { id, key } = await agentFor(workflow);
    await ask({ agent_id: id });
    expect(await lastSettings()).toMatchObject({ agentType: 'workflow', workflow: { id: workflow, version: 1 }, tools: [] });
    await send('PUT', `/api/workflows/${workflow}`, { name: 'New', ...around(agentNode()) });
    await ask({ api_key: key }, new Client(service.url));
    expect(await lastSettings()).toMatchObject({ agentType: 'workflow', workflow: { id: workflow, version: 2 } });
  });

  it('to a workflow agent without a workflow is refused', async () => {
    const { id } = await agentFor(null, 'draft');
    const { status, text } = await ask({ agent_id: id });
    expect([status, text]).toEqual([409, expect.stringContaining('"code":"agent_without_workflow"')]);
  });

  it('may include an unsaved workflow, as the editor sends it', async () => {
    const workflow = await save();
    const body = {
      workflow: { name: 'Draft', description: '', ...around(agentNode()) },
      save_conversation: false,
      visibility: 'hidden',
    };
    expect((await ask(body)).status).toBe(200);
    const draft = { inline: { nodes: [{}, { id: 'agent' }, {}] } };
    expect(await lastSettings()).toMatchObject({
      agentId: null,
      agentType: 'workflow',
      workflow: { id: null, draft },
      tools: [],
    });
    expect((await ask({ ...body, workflow_id: workflow })).status).toBe(200);
    expect(await lastSettings()).toMatchObject({ workflow: { id: workflow, draft } });
    expect((await ask({ ...body, workflow_id: workflow }, bob)).status).toBe(404);
  });

  it.each<[string, object, number, string]>([
    ['invalid', { workflow: { nodes: [] } }, 400, 'Workflow must have at least one node'],
    ['not an object', { workflow: 'x' }, 400, 'workflow must be an object'],
    ['using tools that do not exist', { workflow: around(agentNode({ tools: [newId()] })) }, 404, 'Tool not accessible'],
    ['too large for an event', { workflow: around(agentNode({ own: 'x'.repeat(300_000) })) }, 413, 'has to be saved before'],
  ])('is refused and stores no turn if its workflow is %s', async (_, body, status, text) => {
    const turns = async () => (await service.database.sql`select from event_store.event where type = 'TurnAsked'`).length;
    const before = await turns();
    const answer = await ask(body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
    expect(await turns()).toBe(before);
  });

  it('to an agent cannot include a workflow', async () => {
    const { key } = await agentFor(await save());
    for (const as of [alice, new Client(service.url)])
      expect((await ask({ api_key: key, workflow: plain }, as)).text).toContain('workflow cannot be sent together with an agent');
  });
});

describe('a personal access token', () => {
  const tokenFor = async (scopes: readonly string[], resource_filter: object = {}) => {
    const { body } = await send('POST', '/api/user/tokens', { name: newId(), scopes, resource_filter });
    return new Client(service.url, { authorization: `Bearer ${body['token'] as string}` });
  };

  it('needs a scope and is restricted to its workflows', async () => {
    const [mine, other] = [await save(), await save()];
    const reader = await tokenFor(['workflows:read'], { workflows: [mine] });
    expect((await send('GET', `/api/workflows/${mine}`, undefined, reader)).status).toBe(200);
    expect((await send('GET', `/api/workflows/${other}`, undefined, reader)).status).toBe(403);
    expect((await send('PUT', `/api/workflows/${mine}`, { name: 'x', ...plain }, reader)).status).toBe(403);
    const writer = await tokenFor(['workflows:write'], { workflows: [mine] });
    expect((await send('PUT', `/api/workflows/${mine}`, { name: 'x', ...plain }, writer)).status).toBe(200);
    expect((await send('POST', '/api/workflows', { name: 'x', ...plain }, writer)).status).toBe(403);
  });

  it.each(['sources', 'tools', 'prompts'])('that is restricted in %s cannot write workflows', async (family) => {
    const id = await save();
    const restricted = await tokenFor(['workflows:write', `${family}:read`], { [family]: [newId()] });
    expect((await send('POST', '/api/workflows', { name: 'x', ...plain }, restricted)).status).toBe(403);
    expect((await send('PUT', `/api/workflows/${id}`, { name: 'x', ...plain }, restricted)).status).toBe(403);
    expect((await send('DELETE', `/api/workflows/${id}`, undefined, restricted)).status).toBe(403);
  });

  it('learns of no agent to which it is not restricted, when an agent uses its workflow', async () => {
    const workflow = await save();
    const make = (name: string) => send('POST', '/api/create_agent', { name, agent_type: 'workflow', status: 'draft', workflow });
    const other = (await make('Other')).body as { id: string };
    const restricted = await tokenFor(['workflows:write', 'agents:read'], { agents: [newId()] });
    const refused = await send('DELETE', `/api/workflows/${workflow}`, undefined, restricted);
    expect(refused).toMatchObject({ status: 409, body: { error: 'The workflow is used by an agent', agents: [] } });
    const { id } = (await make('Own')).body as { id: string };
    const own = await tokenFor(['workflows:write', 'agents:read'], { agents: [id] });
    expect(await send('DELETE', `/api/workflows/${workflow}`, undefined, own)).toMatchObject({
      status: 409,
      body: { error: 'The workflow is used by 2 agents', agents: [{ id, name: 'Own' }] },
    });
    await send('DELETE', `/api/delete_agent?id=${id}`);
    await send('DELETE', `/api/delete_agent?id=${other.id}`);
  });

  it('that is restricted cannot run an unsaved workflow', async () => {
    const restricted = await tokenFor(['chat:run', 'sources:read'], { sources: [newId()] });
    const response = await restricted.post('/stream', { question: 'Why?', workflow: plain });
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('cannot bring a workflow along')]);
  });
});
