import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { FilesService, type Json, type Reply, type User } from '../../../../test/support/agent-files.js';
import { answerJson, LocalServer } from '../../../../test/support/local-server.js';
import { defaultToolId } from '../../tools/defaults/default-tools.policy.js';

let service: FilesService;
let api: LocalServer;
let alice: User;
let bob: User;
let head = 0;

beforeAll(async () => {
  service = await FilesService.start();
  api = await LocalServer.started((_request, response) => answerJson(response, { ok: true }));
  [alice, bob] = [await service.newUser('alice'), await service.newUser('bob')];
});
afterAll(async () => {
  await service.close();
  await api.close();
});

const send = (...args: Parameters<FilesService['send']>): Promise<Reply> => service.send(...args);
const YAML = { 'content-type': 'application/yaml' };
const planned = (as: User, yaml: string) => service.plan(as, yaml);
const imported = (...args: Parameters<FilesService['import']>) => service.import(...args);
const exported = (as: User, id: unknown) => service.export(as, id);
const agentOf = (as: User, id: unknown) => service.agent(as, id);
const events = () => service.events();
const made = (as: User, fields: object) => service.makeAgent(as, fields);

const file = (spec: string, metadata = '') => `apiVersion: docsgpt.arc53.com/v1
kind: Agent
metadata: {${metadata}}
spec:
  name: Guide ${++head}
${spec}`;

describe('an exported agent', () => {
  it('is a file with ordered keys, and gets a unique slug', async () => {
    const [one, two] = [await made(alice, { name: 'Café & Tea!' }), await made(alice, { name: 'Café & Tea!' })];
    const reply = await send(alice, 'GET', `/api/export_agent?id=${one}`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/x-yaml; charset=utf-8']);
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="caf-tea.agent.yaml"');
    expect(reply.text).toBe(`apiVersion: docsgpt.arc53.com/v1
kind: Agent
metadata:
  id: ${one}
  slug: caf-tea
spec:
  name: Café & Tea!
  description: Knows
  agent_type: classic
  retriever: classic
  chunks: null
  prompt: default
  model:
    default: ''
    available: []
  sources: []
  tools: []
  limits:
    limited_token_mode: false
    token_limit: null
    limited_request_mode: false
    request_limit: null
  json_schema: null
  allow_system_prompt_override: false
  mcp_ask: false
  config: {}
`);
    expect(await exported(alice, two)).toContain('slug: caf-tea-2');
    expect(await agentOf(alice, one)).toMatchObject({ slug: 'caf-tea' });
    const before = await events();
    expect(await exported(alice, one)).toBe(reply.text);
    expect(await events()).toBe(before);
  });

  it('is available only to its owner', async () => {
    const id = await made(alice, {});
    expect((await send(bob, 'GET', `/api/export_agent?id=${id}`)).status).toBe(404);
    expect((await send(alice, 'GET', '/api/export_agent')).body).toMatchObject({ success: false, message: 'id is required' });
    expect((await send({ ...alice, authorization: '' }, 'GET', `/api/export_agent?id=${id}`)).status).toBe(401);
  });

  it('frees its slug when it is deleted', async () => {
    const id = await made(alice, { name: 'Short-lived' });
    expect(await exported(alice, id)).toContain('slug: short-lived\n');
    await send(alice, 'DELETE', `/api/delete_agent?id=${id}`);
    for (let attempt = 0; ; attempt++) {
      const text = await exported(alice, await made(alice, { name: 'Short-lived' }));
      if (text.includes('slug: short-lived\n')) break;
      if (attempt > 100) throw new Error('The slug is not freed.');
    }
  });
});

describe('a file', () => {
  it.each([
    ['JSON with yaml', (yaml: string) => [JSON.stringify({ yaml }), { 'content-type': 'application/json' }]],
    ['JSON with content', (yaml: string) => [JSON.stringify({ content: yaml }), { 'content-type': 'application/json' }]],
    ['a form', (yaml: string) => [formWith(yaml), {}]],
    ['YAML', (yaml: string) => [yaml, YAML]],
    ['text', (yaml: string) => [yaml, { 'content-type': 'text/plain' }]],
    ['the content type that curl sends', (yaml: string) => [yaml, { 'content-type': 'application/x-www-form-urlencoded' }]],
    ['bytes without a content type', (yaml: string) => [Buffer.from(yaml), {}]],
    ['YAML with a byte order mark and CRLF', (yaml: string) => [`\uFEFF${yaml.replaceAll('\n', '\r\n')}`, YAML]],
  ] as const)('is accepted as %s', async (_, bodyOf) => {
    const [body, headers] = bodyOf(file('  description: Knows')) as [string, Json];
    const reply = await send(bob, 'POST', '/api/import_agent/plan', body, headers);
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        success: true,
        plan: {
          target: { action: 'create', agent_id: null, matched_by: null, status: null },
          sources: [],
          tools: [],
          prompt: { status: 'default' },
          models: [],
          workflow: null,
        },
      },
    ]);
  });

  it('becomes a draft with all its parts, and is first planned without a change', async () => {
    const actions = {
      look: { name: 'look', url: `${api.url}/look`, method: 'GET', description: 'Looks', headers: header('Authorization') },
    };
    const yaml = `${file(
      `  description: |
    Knows
    much
  agent_type: agentic
  chunks: 9
  prompt: {name: Pirate, content: "Arr."}
  model: {default: offline, available: [offline, gone]}
  sources: [{name: Missing, type: file, ref: x}]
  tools:
  - {type: memory, builtin: true}
  - {type: nothing, builtin: true}
  - {type: ntfy, name: Phone, display_name: Ntfy, description: Sends, config: {}, requires_secrets: [token]}
  - {type: unheard, name: Odd}
  - {type: api_tool, name: Weather, display_name: API, description: d, config: {actions: ${JSON.stringify(actions)}}, requires_secrets: [look/header/Authorization]}
  limits: {limited_token_mode: true, token_limit: 7}
  json_schema: {type: object, properties: {a: {type: string}}}
  allow_system_prompt_override: true
  config: {api_write_allowlist: ["tool-2:ntfy_send_message", "tool-9:x"], nonsense: 1}
  colour: blue`,
      'slug: "My Guide"',
    )}`;
    const before = await events();
    const { plan } = (await planned(alice, yaml)).body as { plan: Json };
    expect(await events()).toBe(before);
    expect(plan).toEqual({
      target: { action: 'create', agent_id: null, matched_by: null, status: null },
      sources: [{ name: 'Missing', type: 'file', status: 'missing', target_id: null }],
      tools: [
        { key: 'tool-0', type: 'memory', builtin: true, status: 'builtin', target_id: defaultToolId('memory') },
        { key: 'tool-1', type: 'nothing', builtin: true, status: 'unavailable', target_id: null },
        { key: 'tool-2', type: 'ntfy', name: 'Phone', status: 'create', requires_secrets: ['token'] },
        { key: 'tool-3', type: 'unheard', name: 'Odd', status: 'unavailable', requires_secrets: [] },
        { key: 'tool-4', type: 'api_tool', name: 'Weather', status: 'create', requires_secrets: ['look/header/Authorization'] },
      ],
      prompt: { status: 'create', name: 'Pirate' },
      models: [
        { id: 'offline', status: 'matched' },
        { id: 'gone', status: 'unavailable' },
      ],
      workflow: null,
    });
    const secrets = {
      'tool-2': { decision: 'create', secrets: { token: 'canary-1' } },
      'tool-4': { secrets: { 'look/header/Authorization': 'canary-2' } },
    };
    const { status, body } = await imported(alice, yaml, { tools: secrets });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        agent_id: expect.any(String),
        action: 'created',
        status: 'draft',
        agent_type: 'agentic',
        slug: 'my-guide',
        warnings: [
          "Unknown key 'spec.colour'; ignored",
          "Source 'Missing' not found; left unattached",
          "Built-in tool 'nothing' unavailable; skipped",
          "Tool type 'unheard' not available on this instance; skipped",
          "Model 'gone' not available; skipped",
          "Unknown key 'spec.config.nonsense'; ignored",
          "Allowed write 'tool-9:x' names no tool that is attached; dropped",
        ],
      },
    ]);
    const agent = await agentOf(alice, body['agent_id']);
    expect(agent).toMatchObject({
      description: 'Knows\nmuch\n',
      chunks: '9',
      status: 'draft',
      slug: 'my-guide',
      prompt_name: 'Pirate',
    });
    expect(agent).toMatchObject({ models: ['offline'], default_model_id: 'offline', token_limit: 7, request_limit: null });
    const tools = agent['tools'] as string[];
    expect(agent['config']).toEqual({ api_write_allowlist: [`${tools[1]}:ntfy_send_message`] });
    const listed = (await send(alice, 'GET', '/api/get_tools')).body['tools'] as Json[];
    expect(
      listed
        .filter(({ id }) => tools.includes(id as string))
        .map(({ customName }) => customName)
        .toSorted(),
    ).toEqual(['', 'Phone', 'Weather']);
    const again = await exported(alice, body['agent_id']);
    expect(again).not.toContain('canary');
    expect((load(again) as { spec: Json }).spec).toMatchObject({ config: { api_write_allowlist: ['tool-1:ntfy_send_message'] } });
  });
});

const header = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string', filled_by_llm: false } } });

function formWith(yaml: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([yaml]), 'guide.agent.yaml');
  return form;
}
