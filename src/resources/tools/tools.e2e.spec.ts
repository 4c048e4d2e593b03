import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '../../../test/support/client.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';
import { DerivingKindForTests, InternalKindForTests, ToolKindForTests } from '../../../test/support/tool-kinds.js';
import { SessionTokens } from '../identity/session-tokens.js';
import { newId } from '../../kernel/ids.js';
import { defaultToolId } from './defaults/default-tools.policy.js';
import { DEFINITION_BYTES_MAX, TOOL_NAME_CHARACTERS_MAX, TOOLS_PER_USER_MAX } from './toolbox/definition.policy.js';
import { ToolKinds } from './toolbox/tool-kinds.js';
import { userIdOf } from '../../../test/support/user-id.js';

const SECRET = 'planted-secret-6f1d';

type Row = Record<string, unknown> & { id: string; config: Record<string, unknown>; actions: Record<string, unknown>[] };

let service: TestService;
let alice: Client;
let bob: Client;
let deriving: DerivingKindForTests;

beforeAll(async () => {
  service = await serviceForTests({ AUTH_TYPE: 'session_jwt' });
  const { app } = service.service;
  deriving = new DerivingKindForTests();
  const kinds = app.get(ToolKinds, { strict: false });
  for (const kind of [new ToolKindForTests(), deriving]) kinds.add(kind);
  if (!kinds.byName('memory')) kinds.add(new InternalKindForTests('memory'));
  const tokens = app.get(SessionTokens, { strict: false });
  const clientOf = async (userId: string) =>
    new Client(service.url, { authorization: `Bearer ${await tokens.issue({ subject: userId, roles: [] })}` });
  [alice, bob] = [await clientOf('alice'), await clientOf('bob')];
});
afterAll(() => service.close());

const card = { name: 'postcard', displayName: 'Cards', description: 'Mine', config: { token: SECRET }, status: true };
const send = async (path: string, body: unknown, as = alice) => {
  const response = await as.post(`/api/${path}`, body);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> };
};
const create = async (more: object = {}, as = alice) =>
  (await send('create_tool', { ...card, ...more }, as)).body['id'] as string;
const rows = async (as = alice) => (await as.json<{ tools: Row[] }>('/api/get_tools')).tools;
const row = async (id: string, as = alice) => (await rows(as)).find((each) => each.id === id);

describe('tools', () => {
  it('can be set up for every kind that is not internal', async () => {
    const { success, data } = await alice.json<{ success: boolean; data: Row[] }>('/api/available_tools');
    expect(success).toBe(true);
    expect(data.find(({ name }) => name === 'postcard')).toEqual({
      name: 'postcard',
      displayName: 'Postcards',
      description: 'Sends postcards',
      configRequirements: expect.objectContaining({ token: expect.objectContaining({ required: true, secret: true }) }),
      actions: [expect.objectContaining({ name: 'send_card', access: 'write' }), expect.objectContaining({ access: 'read' })],
    });
    expect((await new Client(service.url).get('/api/available_tools')).status).toBe(401);
  });

  it('are listed at once, with every field that clients read and without their secrets', async () => {
    const { status, body, headers } = await send('create_tool', {
      ...card,
      customName: 'Küche',
      config: { token: SECRET, odd: 1 },
    });
    expect([status, body, headers.get('x-position')]).toEqual([200, { id: expect.any(String) }, expect.stringMatching(/^\d+$/)]);
    expect(await row(body['id'] as string)).toEqual({
      id: body['id'],
      name: 'postcard',
      displayName: 'Cards',
      customName: 'Küche',
      description: 'Mine',
      config: { copies: 1, has_encrypted_credentials: true },
      configRequirements: expect.objectContaining({ copies: expect.anything() }),
      actions: [
        expect.objectContaining({ name: 'send_card', active: true, access: 'write' }),
        expect.objectContaining({ name: 'list_cards', active: true, access: 'read' }),
      ],
      status: true,
      owner_credential_writes: ['send_card'],
      connection_id: null,
      ownership: 'user',
      team_access: null,
      user: await userIdOf(service, 'alice'),
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
  });

  it.each([
    ['an unknown kind', { name: 'nonsense' }, 400, { message: 'This service has no tools of the kind nonsense.' }],
    ['no name', { name: undefined, status: undefined }, 400, { message: 'Missing required fields: name, status' }],
    ['a name that is too long', { displayName: 'x'.repeat(TOOL_NAME_CHARACTERS_MAX + 1) }, 400, {}],
    ['a missing secret', { config: {} }, 400, { message: 'Validation failed', errors: { token: 'Token is required' } }],
    [
      'wrong fields',
      { config: { token: 7, copies: 'many', paper: 'none' } },
      400,
      {
        errors: { token: 'Token must be a string', copies: 'Copies must be a number', paper: 'Paper must be one of thin, thick' },
      },
    ],
    ['a configuration that its kind refuses', { config: { token: 'refused' } }, 400, { message: 'This token is not valid.' }],
    ['a configuration that is too large', { config: { token: SECRET, x: 'x'.repeat(DEFINITION_BYTES_MAX) } }, 413, {}],
    [
      'a function that models cannot call',
      { name: 'deriving', config: { actions: { 'no spaces': {} } } },
      400,
      { param: 'tools[].function.name', message: expect.stringContaining("Invalid function name 'no spaces'") },
    ],
  ])('with %s are refused', async (_, more, status, body) => {
    const refused = await send('create_tool', { ...card, ...more });
    expect([refused.status, refused.body]).toEqual([status, expect.objectContaining({ success: false, ...body })]);
  });

  it('change field by field, and keep a secret until the owner sends another one', async () => {
    const id = await create();
    const position = (
      await send('update_tool', { id, displayName: 'Post', customName: 'Mine', config: { token: '', paper: 'thick' } })
    ).headers;
    expect(position.get('x-position')).toMatch(/^\d+$/);
    expect(await row(id)).toMatchObject({
      displayName: 'Post',
      customName: 'Mine',
      description: 'Mine',
      config: { copies: 1, paper: 'thick', has_encrypted_credentials: true },
    });
    const credentials = () => service.database.sql`
      select credentials_id::text as id from credentials.sealed_credential where credentials_id::text in (
        select credentials_id from tools.tool where tool_id = ${id})`;
    const [before] = await credentials();
    const config = { token: 'another token', copies: '3', has_encrypted_credentials: true };
    expect((await send('update_tool_config', { id, config })).body).toEqual({ success: true });
    expect((await row(id))?.config).toEqual({ copies: 3, has_encrypted_credentials: true });
    const [after] = await credentials();
    expect(after!['id']).not.toBe(before!['id']);
    const left = await service.database
      .sql`select from credentials.sealed_credential where credentials_id = ${before!['id'] as string}`;
    expect(left).toHaveLength(0);
  });

  it('keep the values of fields that are null, which has the same effect as leaving them out', async () => {
    const id = await create({ customName: null });
    expect(await row(id)).toMatchObject({ displayName: 'Cards', customName: '' });
    const nothing = { displayName: null, customName: null, description: null, config: null, actions: null, status: null };
    expect(await send('update_tool', { id, ...nothing })).toMatchObject({ status: 200, body: { success: true } });
    expect(await row(id)).toMatchObject({ displayName: 'Cards', customName: '', description: 'Mine', status: true });
  });

  it('have the actions that their owner configures', async () => {
    const id = await create();
    const actions = (await row(id))!.actions;
    const to = { filled_by_llm: false, value: 'Bob' };
    const wanted = [{ ...actions[0], require_approval: true, parameters: { properties: { to } } }];
    expect((await send('update_tool_actions', { id, actions: wanted })).body).toEqual({ success: true });
    expect((await row(id))!.actions).toMatchObject([
      { name: 'send_card', active: true, require_approval: true, parameters: { properties: { to: { ...to, type: 'string' } } } },
      { name: 'list_cards', active: false },
    ]);
    for (const [wrong, text] of [
      [[{ name: 'burn' }], 'This tool has no action burn'],
      [[{ name: 'send_card', active: 'yes' }], 'active must be true or false'],
      [[{}], 'Every action needs a name'],
    ] as const) {
      const { status, body } = await send('update_tool_actions', { id, actions: wrong });
      expect([status, body]).toEqual([400, expect.objectContaining({ errors: { actions: expect.stringContaining(text) } })]);
    }
  });

  it('are switched off, and are deleted with their secrets', async () => {
    const id = await create();
    const [kept] = await service.database.sql`select credentials_id as id from tools.tool where tool_id = ${id}`;
    await send('update_tool_status', { id, status: false });
    expect(await row(id)).toMatchObject({ status: false });
    expect((await send('delete_tool', { id })).body).toEqual({ success: true });
    expect(await row(id)).toBeUndefined();
    expect((await send('delete_tool', { id })).status).toBe(404);
    const left = await service.database
      .sql`select from credentials.sealed_credential where credentials_id = ${kept!['id'] as string}`;
    expect(left).toHaveLength(0);
  });

  it.each([
    ['update_tool', { description: 'x' }],
    ['update_tool_config', { config: {} }],
    ['update_tool_actions', { actions: [] }],
    ['update_tool_status', { status: false }],
    ['delete_tool', {}],
  ])('of another user are not found by %s, like tools that never existed', async (path, body) => {
    const theirs = await create({}, bob);
    const answers = await Promise.all([theirs, newId(), 'nonsense'].map((id) => send(path, { id, ...body })));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(answers.map(({ body: each }) => each)).toEqual(Array(3).fill({ success: false, message: 'Tool not found' }));
    expect((await send(path, body)).body).toMatchObject({ message: 'Missing required fields: id' });
    expect(await row(theirs, bob)).toMatchObject({ status: true });
    expect(await row(theirs)).toBeUndefined();
  });

  it('that come with the service can be switched off and on by each user but not changed', async () => {
    const id = defaultToolId('memory');
    expect(await row(id)).toMatchObject({
      name: 'memory',
      default: true,
      status: true,
      config: {},
      user: await userIdOf(service, 'alice'),
    });
    expect((await send('update_tool_status', { id, status: false })).body).toEqual({ success: true });
    expect([(await row(id))?.['status'], (await row(id, bob))?.['status']]).toEqual([false, true]);
    await send('update_tool_status', { id, status: true });
    expect(await row(id)).toMatchObject({ status: true });
    for (const path of ['update_tool', 'delete_tool']) {
      for (const fixed of [id, 'builtin:think']) expect((await send(path, { id: fixed })).status).toBe(400);
    }
  });

  it("keep their owner's decisions when the server changes the descriptions of its actions", async () => {
    const served = (description: string, ...names: string[]) =>
      names.map((name) => ({ name, description, active: true, parameters: { type: 'object', properties: { a: {} } } as const }));
    deriving.served = served('Old', 'get_a', 'get_b');
    const id = await create({ name: 'deriving', config: { server: 'x' } });
    await send('update_tool_actions', { id, actions: [{ name: 'get_a', access: 'write', require_approval: true }] });
    deriving.served = served('New', 'get_a', 'get_b', 'get_c');
    await send('update_tool_config', { id, config: { server: 'y' } });
    expect((await row(id))!.actions).toMatchObject([
      { name: 'get_a', description: 'New', access: 'write', require_approval: true, active: true },
      { name: 'get_b', description: 'New', access: 'read', active: false },
      { name: 'get_c', access: 'read', active: true },
    ]);
  });

  it("are used by agents of their owner, who sees the actions that write with the owner's credentials", async () => {
    const agent = { name: 'Guide', description: 'Knows', chunks: 2, retriever: 'classic', prompt_id: '', status: 'published' };
    const [id, open, theirs] = [
      await create({ customName: 'Post' }),
      await create({ name: 'deriving', config: {} }),
      await create({}, bob),
    ];
    const memory = defaultToolId('memory');
    expect((await send('create_agent', { ...agent, tools: [theirs] })).body).toEqual({
      success: false,
      message: 'Tool not accessible',
    });
    const { status, body } = await send('create_agent', { ...agent, tools: [id, open, memory] });
    expect(status).toBe(201);
    const read = () => alice.json<Record<string, unknown>>(`/api/get_agent?id=${body['id'] as string}`);
    const state = { type: 'tool', state: 'active', reason: null, can_confirm: false };
    expect(await read()).toMatchObject({
      tools: [id, open, memory],
      tool_details: [
        { id, name: 'postcard', display_name: 'Post' },
        { id: open, name: 'deriving', display_name: 'Cards' },
        { id: memory, name: 'memory', display_name: 'Memory' },
      ],
      resource_states: [
        { ...state, key: `tool:${id}`, id, name: 'Post', owner_credential_writes: ['send_card'] },
        { ...state, key: `tool:${open}`, id: open, name: 'Cards', owner_credential_writes: [] },
      ],
    });
    await send('delete_tool', { id });
    expect(await read()).toMatchObject({
      tools: [id, open, memory],
      tool_details: [{ id: open }, { id: memory }],
      resource_states: [{ id, name: null, state: 'stopped', reason: 'deleted', owner_credential_writes: [] }, { id: open }],
    });
  });

  it('are limited in number per user', async () => {
    const { sql } = service.database;
    await sql`insert into tools.tool select 'x' || n, ${await userIdOf(service, 'bob')}, 0, 'postcard', '', '', '', '{}', null, '[]', false, now(), now()
      from generate_series(1, ${TOOLS_PER_USER_MAX}) n`;
    const { status, body } = await send('create_tool', card, bob);
    expect([status, body]).toEqual([400, expect.objectContaining({ message: expect.stringContaining(`${TOOLS_PER_USER_MAX}`) })]);
    await sql`delete from tools.tool where tool_id like 'x%'`;
  });
});
