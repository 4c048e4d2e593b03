import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dump, load } from 'js-yaml';
import { pino } from 'pino';
import { FilesService, type Json, type User } from '../../../../test/support/agent-files.js';
import { eventually } from '../../../../test/support/eventually.js';
import { mcpServerForTests, type McpServerForTests } from '../../../../test/support/mcp-server.js';
import { defaultToolId } from '../../tools/defaults/default-tools.policy.js';

let service: FilesService;
let server: McpServerForTests;
let alice: User;
const logged: string[] = [];

beforeAll(async () => {
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  service = await FilesService.start({ LOG_LEVEL: 'debug' }, log);
  server = await mcpServerForTests();
  alice = await service.newUser('alice');
});
afterAll(async () => {
  await service.close();
  await server.close();
});

const fixed = (value: string) => ({ type: 'string', description: '', filled_by_llm: false, value });
const group = (properties: object) => ({ type: 'object', properties });

const action = (canary: (place: string) => string) => ({
  name: 'look',
  description: 'Looks',
  url: `https://weather.example/look/{city}?key=${canary('query-of-url')}&units=${canary('unit')}&day={day}`,
  method: 'POST',
  active: true,
  require_approval: true,
  headers: group({ Authorization: fixed(`Bearer ${canary('header')}`) }),
  query_params: group({ city: { type: 'string', description: 'Where', filled_by_llm: true }, api_key: fixed(canary('query')) }),
  body: group({
    note: fixed(canary('body')),
    password: fixed(canary('password')),
    text: { type: 'string', filled_by_llm: true },
  }),
});

/** Creates agents that use everything that an agent can refer to, with a canary in each place for secrets. */
async function furnished(
  user: User,
  canary: (place: string) => string,
): Promise<Readonly<{ id: string; workflowId: string; agents: readonly string[] }>> {
  const tool = async (fields: object) => {
    const reply = await service.send(user, 'POST', '/api/create_tool', {
      displayName: 'Tool',
      description: 'Does',
      status: true,
      ...fields,
    });
    expect([fields, reply.status]).toEqual([fields, 200]);
    return reply.body['id'] as string;
  };
  const weather = await tool({ name: 'api_tool', customName: 'Weather', config: { actions: { look: action(canary) } } });
  const kitchen = await tool({
    name: 'mcp_tool',
    customName: 'Kitchen',
    config: { server_url: `${server.url}?token=${canary('server-url')}`, auth_type: 'bearer', bearer_token: canary('bearer') },
  });
  const signedIn = (customName: string, config: object) =>
    tool({ name: 'mcp_tool', customName, config: { server_url: server.url, ...config } });
  const pantry = await signedIn('Pantry', { auth_type: 'api_key', api_key: canary('mcp-api-key') });
  const cellar = await signedIn('Cellar', {
    auth_type: 'basic',
    username: canary('mcp-user'),
    password: canary('mcp-password'),
  });
  const tools = (await service.send(user, 'GET', '/api/get_tools')).body['tools'] as Json[];
  const { actions } = tools.find(({ id }) => id === kitchen) as {
    actions: { name: string; parameters: { properties: object } }[];
  };
  const choices = actions.map((each) => ({
    ...each,
    active: each.name !== 'fails',
    ...(each.name === 'count' && { access: 'read', require_approval: true }),
    ...(each.name === 'echo' && { parameters: group({ word: { filled_by_llm: false, value: 'hello' } }) }),
  }));
  expect((await service.send(user, 'POST', '/api/update_tool_actions', { id: kitchen, actions: choices })).status).toBe(200);
  const phone = await tool({
    name: 'ntfy',
    customName: 'Phone',
    config: { server_url: 'https://ntfy.example', token: canary('ntfy') },
  });
  const search = await tool({ name: 'brave', customName: 'Search', config: { token: canary('brave') } });
  const bot = await tool({
    name: 'telegram',
    customName: 'Bot',
    config: { token: `1234567:${canary('telegram-bot-of-the-household-xx')}` },
  });
  const books = await tool({
    name: 'postgres',
    customName: 'Books',
    config: { token: `postgresql://u:${canary('database')}@db.example/books`, allow_writes: true },
  });
  const model = (
    await service.send(user, 'POST', '/api/user/models', {
      display_name: 'My model',
      upstream_model_id: 'm-1',
      base_url: 'https://models.example/v1',
      api_key: canary('model'),
      capabilities: { supports_tools: true, context_window: 32_000 },
    })
  ).body as { id?: string; model?: { id: string } };
  const modelId = (model.id ?? model.model?.id) as string;
  expect(modelId).toEqual(expect.any(String));
  const [handbook, news] = [await source(user, 'Handbook'), await source(user, 'News')];
  const prompt = (
    await service.send(user, 'POST', '/api/create_prompt', { name: 'Pirate', content: 'Arr.\nAhoy: {{ system.time }}\n' })
  ).body['id'];
  const id = await service.makeAgent(user, {
    name: 'The guide',
    description: 'Knows.\nMuch: "all" — ünd more\n',
    status: 'published',
    agent_type: 'agentic',
    chunks: 9,
    retriever: 'classic',
    prompt_id: prompt,
    tools: [weather, defaultToolId('memory'), kitchen, pantry, cellar, phone, search, bot, books],
    source: handbook,
    sources: [news],
    models: ['offline', modelId],
    default_model_id: modelId,
    limited_token_mode: true,
    token_limit: 1000,
    json_schema: { type: 'object', properties: { b: { type: 'string' }, a: { type: 'number' } } },
    allow_system_prompt_override: true,
    mcp_ask: true,
    config: {
      api_write_allowlist: [`${weather}:look`, `${kitchen}:count`],
      restrict_origins: true,
      allowed_origins: ['https://a.example'],
    },
  });
  const nodes = [
    { id: 'start', type: 'start', title: 'Start', position: { x: 0, y: 0.5 }, data: {} },
    {
      id: 'cook',
      type: 'agent',
      title: 'Cook',
      description: 'Cooks',
      position: { x: 1, y: 0 },
      data: {
        config: {
          agent_type: 'classic',
          prompt_template: '{{ query }}\nNow.',
          tools: [kitchen, defaultToolId('memory')],
          sources: [news],
          model_id: 'offline',
        },
      },
    },
    { id: 'end', type: 'end', title: 'End', position: { x: 2, y: 0 }, data: { output_template: '{{ agent.query }}' } },
  ];
  const edges = [
    { id: 'e1', source: 'start', target: 'cook' },
    { id: 'e2', source: 'cook', target: 'end' },
  ];
  const workflow = await service.send(user, 'POST', '/api/workflows', { name: 'Dinner', description: 'In turn', nodes, edges });
  expect(workflow.body).toMatchObject({ success: true });
  const { id: workflowId } = workflow.body['data'] as { id: string };
  const flow = await service.makeAgent(user, {
    name: 'Dinner',
    agent_type: 'workflow',
    status: 'published',
    workflow: workflowId,
  });
  return { id, workflowId, agents: [id, flow] };
}

async function source(user: User, name: string): Promise<string> {
  const form = new FormData();
  form.append('name', name);
  form.append('file', new Blob([`${name} says that tea is at four.`]), 'source.md');
  const { body } = await service.send(user, 'POST', '/api/upload', form);
  const path = `/api/task_status?task_id=${body['task_id'] as string}`;
  await eventually(async () => (await service.send(user, 'GET', path)).body['status'] === 'SUCCESS');
  return body['source_id'] as string;
}

/** The content of a file without ids and slug. */
const withoutIds = (text: string): unknown =>
  JSON.parse(
    JSON.stringify({ ...(load(text) as Json), metadata: {} }, (key, value: unknown) => (key === 'ref' ? undefined : value)),
  ) as unknown;

/** A resolution with every secret that a plan requires, and the key of the model. */
function allSecrets(plan: Json, canary: (place: string) => string): object {
  const tools = (plan['tools'] as Json[])
    .filter(({ status }) => status === 'create')
    .map(({ key, type, requires_secrets: names = [] }) => {
      const secrets = Object.fromEntries(
        (names as string[]).map((name) => [name, name === 'token' ? tokenOf(String(type), canary) : canary(name)]),
      );
      return [key as string, { decision: 'create', secrets }] as const;
    });
  return { tools: Object.fromEntries<object>(tools), models: { 'My model': { api_key: canary('model') } } };
}

function tokenOf(type: string, canary: (place: string) => string): string {
  if (type === 'postgres') return `postgresql://u:${canary('any-database')}@db.example/books`;
  return type === 'telegram' ? `1234567:${canary('telegram-bot-of-the-household-xx')}` : canary(type);
}

describe('an exported agent', () => {
  const canaries: string[] = [];
  const canaryOf = (who: string) => (place: string) => {
    const canary = `canary-${who}-${place.replaceAll(/[^a-z]/gi, '')}`;
    canaries.push(canary);
    return canary;
  };

  it('becomes the same file after another user imports it, and changes nothing when its owner imports it', async () => {
    const { agents } = await furnished(alice, canaryOf('alice'));
    const bob = await service.newUser('bob');
    for (const name of ['News', 'Handbook']) await source(bob, name);
    for (const id of agents) {
      const file = await service.export(alice, id);
      for (const canary of canaries) expect(file).not.toContain(canary);
      expect(load(dump(load(file)))).toEqual(load(file));

      const before = await service.events();
      const again = await service.import(alice, file);
      expect(again.body).toMatchObject({ success: true, agent_id: id, action: 'updated', status: 'published', warnings: [] });
      expect(await service.events()).toBe(before);
      expect(await service.export(alice, id)).toBe(file);

      const { plan } = (await service.plan(bob, file)).body as { plan: Json };
      expect(plan['target']).toMatchObject({ action: 'create' });
      const { body } = await service.import(bob, file, allSecrets(plan, canaryOf('bob')));
      expect(body).toMatchObject({ success: true, action: 'created', status: 'draft' });
      const lost = (body['warnings'] as string[]).filter((warning) => !warning.includes("don't travel in the file"));
      expect(lost).toEqual([]);
      const copy = await service.export(bob, body['agent_id']);
      expect(withoutIds(copy)).toEqual(withoutIds(file));
      for (const canary of canaries) expect(copy).not.toContain(canary);
      // The file that the other user exports changes nothing for that user either.
      const theirs = await service.events();
      expect((await service.import(bob, copy)).body).toMatchObject({ action: 'updated', agent_id: body['agent_id'] });
      expect(await service.events()).toBe(theirs);
    }
  }, 300_000);

  it('leaves no secret in the log, the read models or the log lines', async () => {
    const all = await service.everything();
    expect(all.includes('AgentImportAccepted')).toBe(true);
    expect(logged.length).toBeGreaterThan(0);
    // The owner sees URLs and open parameters of a tool unmasked. They are not part of a file.
    const shown = /query-?of-?url|unit|server-?url|body/i;
    const secret = [...new Set(canaries)].filter((canary) => canary.includes('-bob-') || !shown.test(canary));
    expect(secret.length).toBeGreaterThan(15);
    for (const canary of secret) {
      expect([canary, all.includes(canary)]).toEqual([canary, false]);
      expect([canary, logged.some((line) => line.includes(canary))]).toEqual([canary, false]);
    }
  });
});
