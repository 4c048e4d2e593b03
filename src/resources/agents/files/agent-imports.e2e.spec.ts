import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { agentFile, FilesService, type Json, type User } from '../../../../test/support/agent-files.js';
import { eventually } from '../../../../test/support/eventually.js';
import { newId } from '../../../kernel/ids.js';
import { AgentImports } from './agent-imports.process.js';
import { AcceptAgentImport } from './agent-import.commands.js';
import { Commands } from '../../../kernel/commands.js';
import { ImportWorkflow } from '../../workflows/workflow.commands.js';
import { defaultToolId } from '../../tools/defaults/default-tools.policy.js';

let service: FilesService;
beforeAll(async () => {
  service = await FilesService.start({ ALLOWED_PRIVATE_HOSTS: '' });
});
afterAll(() => service.close());

const MEMORY = defaultToolId('memory');
const tool = async (as: User, fields: object) =>
  (await service.send(as, 'POST', '/api/create_tool', { displayName: 'Tool', description: 'Does', status: true, ...fields }))
    .body['id'] as string;
const agents = async (as: User) => (await service.send(as, 'GET', '/api/get_agents')).body as unknown as readonly Json[];
const tools = async (as: User) => {
  const all = (await service.send(as, 'GET', '/api/get_tools')).body['tools'] as Json[];
  return all.filter((each) => each['default'] !== true);
};
const specOf = (text: string) => (load(text) as { spec: Json; metadata: Json }).spec;
const flow = (more: object = {}) => ({
  name: 'Flow',
  nodes: [
    { id: 'a', type: 'start' },
    { id: 'b', type: 'end', ...more },
  ],
  edges: [{ id: 'e', source: 'a', target: 'b' }],
});

describe('a file that names an agent of the caller', () => {
  it('removes what it leaves out, but keeps the status, the key and the creation time', async () => {
    const user = await service.newUser('owner');
    const phone = await tool(user, { name: 'ntfy', config: { token: 'x' } });
    const fields = { description: 'Knows', chunks: 9, tools: [phone, MEMORY], models: ['offline'], default_model_id: 'offline' };
    const id = await service.makeAgent(user, {
      ...fields,
      retriever: 'classic',
      prompt_id: 'creative',
      status: 'published',
      json_schema: { type: 'object' },
    });
    const before = await service.agent(user, id);
    const reply = await service.import(user, agentFile({ name: 'New', description: 'Other' }, { id }));
    expect(reply.body).toMatchObject({ agent_id: id, action: 'updated', status: 'published', warnings: [] });
    const after = await service.agent(user, id);
    expect(after).toMatchObject({
      name: 'New',
      description: 'Other',
      tools: [],
      models: [],
      default_model_id: '',
      prompt_id: '',
      json_schema: null,
    });
    expect([after['key'], after['status'], after['created_at']]).toEqual([before['key'], 'published', before['created_at']]);
  });

  it('finds it by its id or by its slug in any case, but never one of another user', async () => {
    const [owner, stranger] = [await service.newUser('owner'), await service.newUser('stranger')];
    const id = await service.makeAgent(owner, { name: 'Tea house' });
    const { metadata } = load(await service.export(owner, id)) as { metadata: Json };
    const target = async (as: User, given: object) =>
      ((await service.plan(as, agentFile({}, given))).body['plan'] as Json)['target'];
    expect(await target(owner, metadata)).toEqual({ action: 'update', agent_id: id, matched_by: 'id', status: 'draft' });
    expect(await target(owner, { id: newId(), slug: 'TEA-house' })).toMatchObject({ agent_id: id, matched_by: 'slug' });
    expect(await target(owner, { id: 'no id', slug: 'coffee' })).toMatchObject({ action: 'create', agent_id: null });
    expect(await target(stranger, metadata)).toMatchObject({ action: 'create', agent_id: null });
  });

  it('keeps its slug unless the file sets another one, which releases the first', async () => {
    const user = await service.newUser('owner');
    const id = await service.makeAgent(user, { name: 'First' });
    await service.export(user, id);
    expect((await service.import(user, agentFile({ name: 'Second' }, { id }))).body['slug']).toBe('first');
    expect((await service.import(user, agentFile({ name: 'Second' }, { id, slug: 'third' }))).body['slug']).toBe('third');
    expect((await service.import(user, agentFile({ name: 'First' }))).body['slug']).toBe('first');
    expect((await service.import(user, agentFile({ name: 'Other' }, { id, slug: 'first' }))).body['slug']).toBe('first-2');
  });

  it('is refused if a published agent would lack a required field', async () => {
    const user = await service.newUser('owner');
    const id = await service.makeAgent(user, {
      description: 'Knows',
      chunks: 1,
      retriever: 'classic',
      prompt_id: 'default',
      status: 'published',
    });
    const before = await service.events();
    expect((await service.import(user, agentFile({ description: '' }, { id }))).status).toBe(400);
    const { status, body } = await service.import(user, agentFile({ agent_type: 'workflow' }, { id }));
    expect([status, body['message']]).toEqual([400, 'A published workflow agent needs a workflow; this file has none']);
    expect(await service.events()).toBe(before);
  });

  it('creates a new draft if the agent was deleted', async () => {
    const user = await service.newUser('owner');
    const id = await service.makeAgent(user, {});
    await service.send(user, 'DELETE', `/api/delete_agent?id=${id}`);
    expect((await service.import(user, agentFile({}, { id }))).body).toMatchObject({ action: 'created', status: 'draft' });
  });
});

describe('a resolution', () => {
  it('maps sources, skips, reuses and creates tools, and ignores other users’ resources with a warning', async () => {
    const [user, other] = [await service.newUser('owner'), await service.newUser('other')];
    const [own, foreign] = [
      await tool(user, { name: 'ntfy', customName: 'Mine', config: { token: 'x' } }),
      await tool(other, { name: 'ntfy', config: { token: 'x' } }),
    ];
    const ntfy = (name: string) => ({ type: 'ntfy', name, config: { server_url: 'https://ntfy.example' } });
    const file = agentFile({ tools: [ntfy('A'), ntfy('B'), ntfy('Mine'), ntfy('C'), ntfy('Mine')], sources: [{ name: 'S' }] });
    const resolution = {
      sources: { S: newId() },
      tools: {
        'tool-0': { decision: 'skip' },
        'tool-1': { decision: 'reuse', tool_id: own },
        'tool-3': { decision: 'reuse', tool_id: foreign },
        'tool-4': { decision: 'create', secrets: { token: 'y', nonsense: 'z' } },
        'tool-9': 7,
      },
      models: [],
    };
    const { body } = await service.import(user, file, resolution);
    expect(body['warnings']).toEqual([
      "Source mapping for 'S' is not yours; ignored",
      `Tool reuse id '${foreign}' is not yours; ignored`,
      "Multiple tools share the name 'Mine'",
    ]);
    const { tools: attached } = (await service.agent(user, body['agent_id'])) as { tools: string[] };
    expect([attached[0], attached.length]).toEqual([own, 3]);
    expect((await tools(user)).map(({ customName }) => customName).toSorted()).toEqual(['C', 'Mine', 'Mine']);
  });

  it('never rewrites a tool that is reused', async () => {
    const user = await service.newUser('owner');
    const own = await tool(user, { name: 'ntfy', customName: 'Phone', config: { server_url: 'https://a.example', token: 'x' } });
    await service.import(
      user,
      agentFile({ tools: [{ type: 'ntfy', name: 'Phone', config: { server_url: 'https://b.example' } }] }),
    );
    expect(await tools(user)).toEqual([
      expect.objectContaining({ id: own, config: expect.objectContaining({ server_url: 'https://a.example' }) }),
    ]);
  });
});

describe('a workflow in a file', () => {
  it('creates one, then a new version, changes nothing if omitted or equal, and deletes that of a draft on null', async () => {
    const user = await service.newUser('owner');
    const first = await service.import(user, agentFile({ agent_type: 'workflow', workflow: flow() }));
    expect([first.body['message'], first.body['action']]).toEqual([undefined, 'created']);
    const id = first.body['agent_id'];
    const { workflow } = await service.agent(user, id);
    const act = async (more: object) => {
      const file = agentFile({ agent_type: 'workflow', ...more }, { id });
      const { plan } = (await service.plan(user, file)).body as { plan: Json };
      const { warnings } = (await service.import(user, file)).body;
      return { plan: plan['workflow'], warnings, workflow: (await service.agent(user, id))['workflow'] };
    };
    const before = await service.events();
    expect(await act({})).toEqual({ plan: null, warnings: [], workflow });
    expect(await act({ workflow: flow() })).toEqual({ plan: { nodes: 2, edges: 1, action: 'update' }, warnings: [], workflow });
    expect(await service.events()).toBe(before);
    const changed = flow({ config: { output_template: 'Done.' } });
    expect(await act({ workflow: changed })).toEqual({ plan: { nodes: 2, edges: 1, action: 'update' }, warnings: [], workflow });
    expect(specOf(await service.export(user, id))['workflow']).toMatchObject({
      nodes: [{ id: 'a' }, { id: 'b', config: { output_template: 'Done.' } }],
    });
    await service.send(user, 'PUT', `/api/update_agent/${String(id)}`, { status: 'published', description: 'x' });
    const kept = 'File has no workflow; the published agent kept its existing one';
    expect(await act({ description: 'x', workflow: null })).toEqual({ plan: null, warnings: [kept], workflow });
    await service.send(user, 'PUT', `/api/update_agent/${String(id)}`, { status: 'draft' });
    const gone = "File has no workflow; the agent's workflow was deleted along with its run history and artifacts";
    expect(await act({ workflow: null })).toEqual({
      plan: { nodes: 2, edges: 1, action: 'delete' },
      warnings: [gone],
      workflow: null,
    });
    expect((await service.send(user, 'GET', `/api/workflows/${String(workflow)}`)).status).toBe(404);
  });
});

describe('an import', () => {
  const brought = (n: number) =>
    agentFile({ name: `Import ${n}`, tools: [{ type: 'ntfy', name: `Phone ${n}` }], prompt: { name: `P${n}`, content: 'Arr.' } });

  it('runs once per idempotency key and returns the same answer', async () => {
    const user = await service.newUser('owner');
    const sent = await Promise.all(
      Array.from({ length: 4 }, () => service.import(user, brought(1), {}, { 'idempotency-key': 'k' })),
    );
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(sent.map(({ text }) => text)).size).toBe(1);
    expect(sent.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(3);
    expect([(await agents(user)).length, (await tools(user)).length]).toEqual([1, 1]);
    const other = await service.import(user, brought(2), {}, { 'idempotency-key': 'k' });
    expect([other.status, other.body['success']]).toEqual([422, false]);
  });

  it('gives concurrently imported agents different slugs', async () => {
    const user = await service.newUser('owner');
    const sent = await Promise.all(Array.from({ length: 6 }, () => service.import(user, agentFile({ name: 'Twin' }))));
    const slugs = sent.map(({ body }) => body['slug']);
    expect(slugs.toSorted()).toEqual(['twin', 'twin-2', 'twin-3', 'twin-4', 'twin-5', 'twin-6']);
    expect((await agents(user)).map(({ slug }) => slug).toSorted()).toEqual(slugs.toSorted());
  });

  /** Accepts an import but does not complete it, like a service whose process crashed in between. */
  async function accepted(user: User, given: Partial<AcceptAgentImport['accepted']>, parts: AcceptAgentImport['parts']) {
    const { app } = service.running.service;
    const [commands, imports] = [app.get(Commands, { strict: false }), app.get(AgentImports, { strict: false })];
    await service.import(user, brought(3));
    const rows = await service.running.database.sql`
      select data from event_store.event where type = 'AgentImportAccepted' order by position desc limit 1`;
    const known = JSON.parse(rows[0]!['data'] as string) as AcceptAgentImport['accepted'];
    const importId = newId();
    const cause = { actor: 'system:test', credential: 'system', correlationId: importId, causationId: importId } as const;
    const imported = { ...known.imported, tools: [], promptId: '', ...given.imported };
    await commands.execute(new AcceptAgentImport({ ...known, agentId: newId(), ...given, importId, imported }, parts, cause));
    return { complete: () => imports.complete(importId, cause) };
  }
  const graph = (outputTemplate: string, tools: readonly string[] = []) => ({
    nodes: [
      { id: 'a', type: 'start', data: {} },
      { id: 'b', type: 'agent', data: { tools } },
      { id: 'c', type: 'end', data: { output_template: outputTemplate } },
    ].map((node) => ({ title: '', description: '', position: { x: 0, y: 0 }, ...node })),
    edges: [
      { id: 'ab', source: 'a', target: 'b', sourceHandle: null, targetHandle: null },
      { id: 'bc', source: 'b', target: 'c', sourceHandle: null, targetHandle: null },
    ],
  });
  const templateOf = async (user: User, workflowId: unknown) => {
    const { body } = await service.send(user, 'GET', `/api/workflows/${String(workflowId)}`);
    return (body['data'] as { nodes: { data: Json }[] } | undefined)?.nodes.at(-1)!.data['output_template'];
  };

  it('lists its parts once the agent exists, and is completed once even if several attempts complete it', async () => {
    const user = await service.newUser('owner');
    const [agentId, promptId] = [newId(), newId()];
    const parts = [{ kind: 'prompt' as const, id: promptId, name: 'Left behind', content: 'x' }];
    const { complete } = await accepted(user, { agentId, slug: 'left', imported: { name: 'Left', promptId } as never }, parts);
    expect(await complete()).toMatchObject({ agentId, slug: 'left' });
    // The reaction may have completed it before. It still happens only once.
    expect(await complete()).toMatchObject({ agentId, slug: 'left' });
    // No request has waited for the read models.
    await eventually(async () => (await agents(user)).some(({ name }) => name === 'Left'));
    expect((await agents(user)).filter(({ name }) => name === 'Left')).toHaveLength(1);
    const prompts = (await service.send(user, 'GET', '/api/get_prompts')).body as unknown as readonly Json[];
    expect(prompts.filter(({ name }) => name === 'Left behind')).toHaveLength(1);
  });

  it('is completed although its agent, its workflow and a tool of the workflow were deleted before', async () => {
    const user = await service.newUser('owner');
    const phone = await tool(user, { name: 'ntfy', config: { token: 'x' } });
    const made = await service.import(user, agentFile({ name: 'Flow', agent_type: 'workflow', workflow: flow() }));
    const agentId = made.body['agent_id'] as string;
    const { workflow: id } = (await service.agent(user, agentId)) as { workflow: string };
    await service.send(user, 'DELETE', `/api/delete_agent?id=${agentId}`);
    await eventually(async () => (await service.send(user, 'GET', `/api/workflows/${id}`)).status === 404);
    await service.send(user, 'POST', '/api/delete_tool', { id: phone });
    const part = { kind: 'workflow' as const, id, isNew: false, name: 'Flow', description: '', graph: graph('New.', [phone]) };
    const imported = { name: 'Flow again', agentType: 'workflow', workflowId: id } as never;
    const { complete } = await accepted(user, { agentId, action: 'updated', slug: null, imported }, [part]);
    const outcome = (await complete())!;
    expect(outcome).toMatchObject({ action: 'created', status: 'draft' });
    await eventually(async () => (await agents(user)).some(({ name }) => name === 'Flow again'));
    const { workflow: own } = await service.agent(user, outcome.agentId);
    expect(await templateOf(user, own)).toBe('New.');
  });

  it('does not change the graph of a workflow until it changes its agent', async () => {
    const user = await service.newUser('owner');
    const made = await service.import(user, agentFile({ name: 'Flow', agent_type: 'workflow', workflow: flow() }));
    const { workflow: id } = (await service.agent(user, made.body['agent_id'])) as { workflow: string };
    const commands = service.running.service.app.get(Commands, { strict: false });
    const importId = newId();
    const cause = { actor: 'system:test', credential: 'system', correlationId: importId, causationId: importId } as const;
    const content = { name: 'Flow', description: '', graph: graph('Half.') };
    const [owner] = await service.running.database.sql`select owner_id from workflows.workflow where workflow_id = ${id}`;
    const ownerId = owner!['owner_id'] as string;
    const position = await commands.execute(new ImportWorkflow(id, ownerId, content, importId, cause));
    await eventually(async () => {
      const rows = await service.running.database.sql`select 1 from workflows.held_change where workflow_id = ${id}`;
      return rows.length === 1;
    });
    expect([position, await templateOf(user, id)]).toEqual([expect.any(BigInt), undefined]);
    const again = await service.import(
      user,
      agentFile(
        { name: 'Flow', agent_type: 'workflow', workflow: flow({ config: { output_template: 'Whole.' } }) },
        { id: made.body['agent_id'] },
      ),
    );
    expect([again.body['warnings'], await templateOf(user, id)]).toEqual([[], 'Whole.']);
  });
});

describe('a personal access token', () => {
  const tokenWith = async (user: User, fields: object): Promise<User> => {
    const { body, status, text } = await service.send(user, 'POST', '/api/user/tokens', { name: newId(), ...fields });
    expect([status, text]).toEqual([201, expect.any(String)]);
    return { ...user, authorization: `Bearer ${body['token'] as string}` };
  };

  it('imports with the scope agents:write, unless it is restricted to other agents or in the families of an agent’s parts', async () => {
    const user = await service.newUser('owner');
    const [one, other] = [await service.makeAgent(user, { name: 'One' }), await service.makeAgent(user, { name: 'Other' })];
    const write = { scopes: ['agents:write'] };
    const answer = async (token: User, metadata: object) => {
      const { status, body } = await service.import(token, agentFile({}, metadata));
      return [status, body['error'] ?? body['action'], body['message']];
    };
    expect((await answer(await tokenWith(user, { scopes: ['agents:read'] }), {}))[0]).toBe(403);
    expect((await answer(await tokenWith(user, write), {}))[1]).toBe('created');
    const restricted = await tokenWith(user, { ...write, resource_filter: { agents: [one] } });
    expect((await answer(restricted, { id: one }))[1]).toBe('updated');
    const text = 'This token is restricted to specific agents and may only update those';
    expect(await answer(restricted, { id: other })).toEqual([403, 'resource_not_allowed', text]);
    expect(await answer(restricted, {})).toEqual([403, 'resource_not_allowed', text]);
    const ofTool = await tool(user, { name: 'ntfy', config: { token: 'x' } });
    const inTools = await tokenWith(user, { scopes: ['agents:write', 'tools:read'], resource_filter: { tools: [ofTool] } });
    expect(await answer(inTools, {})).toEqual([
      403,
      'resource_not_allowed',
      'A token restricted to specific tools cannot import agents',
    ]);
    expect((await service.plan(inTools, agentFile({}))).status).toBe(403);
    expect((await service.send(restricted, 'GET', `/api/export_agent?id=${other}`)).status).toBe(403);
  });
});
