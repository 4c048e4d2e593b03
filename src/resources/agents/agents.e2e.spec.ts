import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { boastfulPngFile } from '../../../test/support/picture-files.js';
import { Client } from '../../../test/support/client.js';
import { eventually } from '../../../test/support/eventually.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';
import { SessionTokens } from '../identity/session-tokens.js';
import { newId } from '../../kernel/ids.js';
import { defaultToolId } from '../tools/defaults/default-tools.policy.js';

let service: TestService;
let alice: Client;
let bob: Client;
let send: (method: string, path: string, body?: unknown, as?: Client) => Promise<Reply>;

type Reply = Readonly<{ status: number; body: Record<string, unknown>; headers: Headers }>;
const MEMORY = defaultToolId('memory');
const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

beforeAll(async () => {
  service = await serviceForTests({ AUTH_TYPE: 'session_jwt', AGENT_IMAGE_MAX_BYTES: '1000' });
  const tokens = service.service.app.get(SessionTokens, { strict: false });
  const bearers = new Map<Client, string>();
  const clientOf = async (userId: string) => {
    const authorization = `Bearer ${await tokens.issue({ subject: userId, roles: [] })}`;
    const client = new Client(service.url, { authorization });
    bearers.set(client, authorization);
    return client;
  };
  [alice, bob] = [await clientOf('alice'), await clientOf('bob')];
  send = async (method, path, body, as = alice) => {
    const form = body instanceof FormData;
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: bearers.get(as)!, ...(body !== undefined && !form && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as Record<string, unknown> };
  };
});
afterAll(() => service.close());

const publishable = { name: 'Guide', description: 'Knows', chunks: '4', retriever: 'classic', prompt_id: 'default' };
const create = async (fields: object = {}) =>
  (await send('POST', '/api/create_agent', { ...publishable, status: 'published', ...fields })).body as {
    id: string;
    key: string;
  };
const read = async (id: string) => (await send('GET', `/api/get_agent?id=${id}`)).body;

describe('an agent', () => {
  it('gets its key when it is published, and the complete key is shown once', async () => {
    const draft = await send('POST', '/api/create_agent', { name: 'Draft', status: 'draft' });
    expect([draft.status, draft.body]).toEqual([201, { id: expect.any(String), key: '' }]);
    const id = draft.body['id'] as string;
    const change = { status: 'published', description: 'Knows' };
    const { body, headers } = await send('PUT', `/api/update_agent/${id}`, change);
    expect(body).toEqual({ success: true, id, message: 'Agent updated successfully', key: expect.stringMatching(UUID_4) });
    expect(headers.get('x-position')).toMatch(/^\d+$/);
    const key = body['key'] as string;
    expect(await read(id)).toMatchObject({ status: 'published', key: `${key.slice(0, 4)}...${key.slice(-4)}` });
    expect((await send('PUT', `/api/update_agent/${id}`, { name: 'Other' })).body).not.toHaveProperty('key');
    const log = await service.database.sql`select count(*)::int as n from event_store.event where position(${key} in data) > 0`;
    expect(log[0]).toEqual({ n: 0 });
  });

  it('is returned at once with every field that clients read', async () => {
    const { id } = await create({ tools: [MEMORY], models: ['offline'], default_model_id: 'offline' });
    expect(await read(id)).toEqual({
      id,
      ...publishable,
      prompt_id: '',
      prompt_name: 'default',
      slug: '',
      image: '',
      source: '',
      sources: [],
      source_details: [],
      tools: [MEMORY],
      tool_details: [{ id: MEMORY, name: 'memory', display_name: 'Memory' }],
      agent_type: 'classic',
      status: 'published',
      json_schema: null,
      config: {},
      limited_token_mode: false,
      token_limit: null,
      limited_request_mode: false,
      request_limit: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      last_used_at: null,
      pinned: false,
      shared: false,
      shared_metadata: {},
      shared_token: '',
      models: ['offline'],
      default_model_id: 'offline',
      folder_id: null,
      workflow: null,
      allow_system_prompt_override: false,
      mcp_ask: false,
      ownership: 'user',
      team_access: null,
      key: expect.stringMatching(/^.{4}\.\.\..{4}$/),
      access: 'owner',
      allowed_actions: expect.arrayContaining(['edit', 'use']),
      resource_sponsors: [],
      resource_states: [],
    });
    const listed = (await send('GET', '/api/get_agents')).body as unknown as { id: string }[];
    expect(listed.at(-1)).toMatchObject({ id, pinned: false });
  });

  it('is refused in a form whose fields are not valid UTF-8', async () => {
    const part = (name: string, value: string) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const form = `${part('status', 'draft')}${part('name', 'caf\xe9')}--b--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    for (const path of ['/api/create_agent', '/api/upload']) {
      const response = await alice.request(path, { method: 'POST', headers, body: Buffer.from(form, 'latin1') });
      expect([response.status, await response.json()]).toEqual([
        400,
        { success: false, message: 'The form field "name" is not valid UTF-8.' },
      ]);
    }
  });

  it('can be created by a form with a picture', async () => {
    const form = new FormData();
    const fields = {
      ...publishable,
      status: 'published',
      tools: `["${MEMORY}"]`,
      json_schema: '',
      limited_token_mode: 'True',
      token_limit: '9',
    };
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('image', new Blob([PIXEL], { type: 'text/plain' }), 'face.bin');
    const { status, body } = await send('POST', '/api/create_agent', form);
    expect(status).toBe(201);
    const agent = await read(body['id'] as string);
    expect(agent).toMatchObject({ tools: [MEMORY], json_schema: null, limited_token_mode: true, token_limit: 9 });
    const image = await fetch(agent['image'] as string);
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(Buffer.from(await image.arrayBuffer())).toEqual(PIXEL);
    expect((await fetch(`${(agent['image'] as string).slice(0, -1)}x`)).status).toBe(404);
    const text = new FormData();
    text.set('image', new Blob(['<svg onload="alert(1)"/>'], { type: 'image/png' }), 'face.png');
    expect((await send('PUT', `/api/update_agent/${body['id'] as string}`, text)).status).toBe(400);
    for (const [bytes, why] of [
      [boastfulPngFile('face.png', 60_000, 60_000).bytes, 'it has more than 50000000 pixels.'],
      [PIXEL.subarray(0, -8), 'the picture is damaged.'],
    ] as const) {
      text.set('image', new Blob([bytes]), 'face.png');
      const refused = await send('PUT', `/api/update_agent/${body['id'] as string}`, text);
      expect([refused.status, refused.body['message']]).toEqual([400, `Image upload failed: ${why}`]);
    }
    text.set('image', new Blob([PIXEL, Buffer.alloc(1000)]), 'face.png');
    expect((await send('PUT', `/api/update_agent/${body['id'] as string}`, text)).status).toBe(413);
  });

  it('changes only in the fields that are sent, and its policy is replaced as a whole', async () => {
    const { id } = await create({
      config: { api_write_allowlist: [' t2:write ', 't1:a:b', 't2:write'], guardrails: { enabled: false } },
    });
    expect((await read(id))['config']).toEqual({ api_write_allowlist: ['t1:a:b', 't2:write'], guardrails: { enabled: false } });
    await send('PUT', `/api/update_agent/${id}`, { config: { api_write_allowlist: [] }, chunks: 0 });
    expect(await read(id)).toMatchObject({
      config: { api_write_allowlist: [] },
      chunks: '0',
      name: 'Guide',
      status: 'published',
    });
  });

  it('keeps its guardrails when an update with invalid ones is refused', async () => {
    const guardrails = { enabled: true, mode: 'scan_all', controls: [{ check: 'pii', stage: 'output', action: 'redact' }] };
    const { id } = await create({ config: { guardrails } });
    const invalid = { guardrails: { ...guardrails, controls: [{ check: 'injection', stage: 'output' }] } };
    const refused = await send('PUT', `/api/update_agent/${id}`, { config: invalid, name: 'Other' });
    expect([refused.status, refused.body['message']]).toEqual([400, expect.stringContaining('controls[0].stage must be one of')]);
    expect(await read(id)).toMatchObject({ name: 'Guide', config: { guardrails } });
  });

  it('is not changed by an update that is based on an old version', async () => {
    const { id } = await create();
    const seen = (await read(id))['updated_at'];
    const first = await send('PUT', `/api/update_agent/${id}`, { name: 'Mine', expected_updated_at: seen });
    const second = await send('PUT', `/api/update_agent/${id}`, { name: 'Late', expected_updated_at: seen });
    expect([first.status, second.status]).toEqual([200, 409]);
    expect(second.body).toMatchObject({ success: false, message: 'Agent was modified by someone else', error: 'stale_write' });
  });

  it.each(['react', 'openai'])('of the type %s, an alias of other services, is stored as classic', async (agent_type) => {
    const { id } = await create({ agent_type });
    expect(await read(id)).toMatchObject({ agent_type: 'classic' });
  });

  it.each([undefined, null, {}, { enabled: false, controls: [] }])(
    'accepts guardrails that check nothing: %j',
    async (guardrails) => {
      const { id } = await create({ config: { guardrails } });
      expect(await read(id)).toMatchObject({ config: guardrails ? { guardrails } : {} });
    },
  );

  it('is pinned and unpinned in turn', async () => {
    const { id } = await create();
    expect((await send('POST', `/api/pin_agent?id=${id}`)).body).toEqual({ success: true, action: 'pinned' });
    const pinned = (await send('GET', '/api/pinned_agents')).body as unknown as { id: string }[];
    expect(pinned).toEqual([expect.objectContaining({ id, pinned: true })]);
    expect((await read(id))['pinned']).toBe(true);
    expect((await send('POST', `/api/pin_agent?id=${id}`)).body).toEqual({ success: true, action: 'unpinned' });
  });

  it('accepts only its newest key, and none after it is deleted', async () => {
    const { id, key } = await create();
    const statusWith = async (api_key: string) => (await send('POST', '/api/answer', { question: 'Hi?', api_key })).status;
    const renewed = (await send('POST', `/api/regenerate_agent_key/${id}`)).body['key'] as string;
    expect([await statusWith(key), await statusWith(renewed), await statusWith(renewed.toUpperCase())]).toEqual([401, 200, 401]);
    await eventually(async () => (await read(id))['last_used_at'] !== null);
    expect(await send('DELETE', `/api/delete_agent?id=${id}`)).toMatchObject({ status: 200, body: { id } });
    expect(await statusWith(renewed)).toBe(401);
    expect((await send('GET', `/api/get_agent?id=${id}`)).status).toBe(404);
  });
});

const GUARDRAILS_INVALID = 'Invalid config: one or more guardrail controls failed validation.';

describe('a refusal', () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ['no status', { status: undefined }, "Status must be either 'draft' or 'published'"],
    ['an unknown status', { status: 'live' }, "Status must be either 'draft' or 'published'"],
    [
      'a published agent without what it needs',
      { description: undefined, chunks: undefined },
      'Missing required fields: description, chunks',
    ],
    ['a draft without a name', { status: 'draft', name: undefined }, 'Missing required fields: name'],
    ['a name that is a number', { name: 7 }, 'name'],
    ['a negative number of chunks', { chunks: -1 }, 'chunks'],
    ['chunks that are not a number', { chunks: 'many' }, 'chunks'],
    ['tools that are not a list', { tools: 'x' }, 'Invalid JSON format for field: tools'],
    ['a source that is not an id', { source: 'x' }, 'source'],
    ['a prompt that is not an id', { prompt_id: 'x' }, 'prompt_id'],
    ['a limit without a number', { limited_token_mode: true }, 'A token limit greater than 0'],
    ['a number without a limit', { request_limit: 5 }, 'limited request mode is disabled'],
    ['an invalid schema', { json_schema: { a: 1 } }, 'Invalid JSON schema'],
    ['a schema with a regular expression', { json_schema: { type: 'string', pattern: '(a+)+$' } }, 'pattern is not supported'],
    ['an unknown policy', { config: { x: 1 } }, 'Invalid config: config.x is not known.'],
    [
      'an allowlist that is too long',
      { config: { api_write_allowlist: Array.from({ length: 201 }, (_, i) => `t:${i}`) } },
      'Invalid config: config.api_write_allowlist must hold at most 200 entries.',
    ],
    ['an allowlist entry without an action', { config: { api_write_allowlist: ['x'] } }, 'config.api_write_allowlist must hold'],
    ['an invalid origin', { config: { restrict_origins: true, allowed_origins: ['x'] } }, 'config.allowed_origins must hold'],
    ['no origin to restrict to', { config: { restrict_origins: true } }, 'config.allowed_origins must name an origin'],
    ['a restriction that is not a boolean', { config: { restrict_origins: 'yes' } }, 'config.restrict_origins must be'],
    [
      'guardrails with an unknown check',
      { config: { guardrails: { enabled: true, controls: [{ check: 'mood', stage: 'input' }] } } },
      `${GUARDRAILS_INVALID} config.guardrails.controls[0].check must be one of`,
    ],
    [
      'guardrails with an unknown field',
      { config: { guardrails: { on: true } } },
      `${GUARDRAILS_INVALID} config.guardrails.on is not known.`,
    ],
    [
      'guardrails with an unknown judge model',
      {
        config: {
          guardrails: { controls: [{ check: 'policy', stage: 'input', settings: { policy: 'No insults.', model: 'gone' } }] },
        },
      },
      `${GUARDRAILS_INVALID} config.guardrails names no model of this service: gone`,
    ],
    ['an unknown agent type', { agent_type: 'oracle' }, 'agent_type must be one of classic, agentic, research, workflow'],
    ['an unknown default model', { default_model_id: 'gone' }, 'default_model_id names no model of this service: gone'],
    ['unknown models', { models: ['offline', 'gone'] }, 'models names no model of this service: gone'],
  ];
  it.each(cases)('of %s is a 400 that names the problem', async (_, fields, message) => {
    const { status, body } = await send('POST', '/api/create_agent', { ...publishable, status: 'published', ...fields });
    expect([status, body]).toEqual([400, { success: false, message: expect.stringContaining(message) }]);
  });

  it.each([
    ['source', { source: newId() }, 'Source not accessible'],
    ['prompt', { prompt_id: newId() }, 'Prompt not accessible'],
    ['folder', { folder_id: newId() }, 'Folder not found'],
    ['workflow', { workflow: newId() }, 'Workflow not found'],
  ])('of an unknown %s is a 404', async (_, fields, message) => {
    const { status, body } = await send('POST', '/api/create_agent', { ...publishable, status: 'published', ...fields });
    expect([status, body]).toEqual([404, { success: false, message }]);
  });

  it('is the same for the agent of another user as for an unknown one', async () => {
    const { id } = await create();
    const requests: readonly (readonly [string, (id: string) => string, object?])[] = [
      ['GET', (each) => `/api/get_agent?id=${each}`],
      ['PUT', (each) => `/api/update_agent/${each}`, { name: 'Mine' }],
      ['DELETE', (each) => `/api/delete_agent?id=${each}`],
      ['POST', (each) => `/api/regenerate_agent_key/${each}`],
      ['POST', (each) => `/api/pin_agent?id=${each}`],
    ];
    for (const [method, path, body] of requests) {
      const foreign = await send(method, path(id), body, bob);
      const unknown = await send(method, path(newId()), body, bob);
      expect([foreign.status, foreign.body]).toEqual([404, { success: false, message: 'Agent not found' }]);
      expect(unknown).toMatchObject({ status: 404, body: foreign.body });
    }
    expect((await send('GET', '/api/get_agents', undefined, bob)).body).toEqual([]);
  });

  it('names the problem of an invalid body, an empty update, a key for a draft and an incomplete publication', async () => {
    const { id } = (await send('POST', '/api/create_agent', { name: 'Draft', status: 'draft' })).body as { id: string };
    expect((await send('PUT', `/api/update_agent/${id}`, [])).body['message']).toBe('Invalid request data');
    expect((await send('PUT', `/api/update_agent/${id}`, {})).body['message']).toBe('No valid update data provided');
    expect(await send('POST', `/api/regenerate_agent_key/${id}`)).toMatchObject({
      status: 409,
      body: { message: 'Publish the agent before resetting its key' },
    });
    const lacking = await send('PUT', `/api/update_agent/${id}`, { status: 'published' });
    expect(lacking.body['message']).toBe('Cannot publish agent. Missing or invalid required fields: Agent description');
  });
});

describe('prompts', () => {
  it('are the presets and the user’s own', async () => {
    const { id } = (await send('POST', '/api/create_prompt', { name: 'Pirate', content: 'Arr.' })).body as { id: string };
    expect((await send('GET', '/api/get_prompts')).body).toEqual([
      ...['default', 'creative', 'strict'].map((name) => ({ id: name, name, type: 'public' })),
      expect.objectContaining({ id, name: 'Pirate', type: 'private' }),
    ]);
    expect((await send('GET', `/api/get_single_prompt?id=${id}`)).body['content']).toBe('Arr.');
    expect((await send('GET', '/api/get_single_prompt?id=agentic_strict')).body['content']).toContain('Search for them');
    const edited = await send('POST', '/api/update_prompt', { id, name: 'Pirate', content: 'Ahoy.' });
    expect(edited).toMatchObject({ status: 200, body: { success: true } });
    const { id: agentId } = await create({ prompt_id: id });
    expect(await read(agentId)).toMatchObject({
      prompt_name: 'Pirate',
      resource_states: [{ key: `prompt:${id}`, type: 'prompt', state: 'active', owner_credential_writes: [] }],
    });
    expect((await send('POST', '/api/delete_prompt', { id })).body).toEqual({ success: true });
    expect((await read(agentId))['resource_states']).toMatchObject([{ state: 'stopped', reason: 'deleted' }]);
  });

  it('of another user get the same 404 as unknown ones', async () => {
    const { id } = (await send('POST', '/api/create_prompt', { name: 'Pirate', content: 'Arr.' })).body as { id: string };
    for (const each of [id, newId(), 'nonsense']) {
      const notFound = { status: 404, body: { success: false, message: 'Prompt not found' } };
      expect(await send('GET', `/api/get_single_prompt?id=${each}`, undefined, bob)).toMatchObject(notFound);
      expect(await send('POST', '/api/update_prompt', { id: each, name: 'x', content: 'x' }, bob)).toMatchObject(notFound);
      expect(await send('POST', '/api/delete_prompt', { id: each }, bob)).toMatchObject(notFound);
    }
    expect((await send('POST', '/api/create_prompt', { name: 'x' })).body['message']).toBe('Missing required fields: content');
  });
});

it('the models are listed without a credential', async () => {
  const response = await fetch(`${service.url}/api/models`);
  expect(await response.json()).toMatchObject({
    models: [{ id: 'offline', supports_streaming: true, enabled: true, source: 'builtin', supported_attachment_types: [] }],
    default_model_id: 'offline',
    count: 1,
  });
});
