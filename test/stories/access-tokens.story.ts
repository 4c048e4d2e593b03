import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LOG_START } from '../../src/kernel/event-sourcing/event-store.js';
import { newId } from '../../src/kernel/ids.js';
import { ToolKinds } from '../../src/resources/tools/toolbox/tool-kinds.js';
import { bearerOf, type MadeToken, tokenFor } from '../support/access-tokens.js';
import { askOver } from '../support/asked.js';
import { readyAttachment } from '../support/attachments.js';
import type { MakeBacking } from '../support/backing.js';
import { Client, conversationIdIn, messageIdIn } from '../support/client.js';
import { textFile } from '../support/document-files.js';
import { call, say } from '../support/scripted-model-server.js';
import { serviceForTests } from '../support/service.js';
import { ToolKindForTests } from '../support/tool-kinds.js';
import { eventually } from '../support/eventually.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const question = 'Why?';
const FILE = textFile('tea.txt', 'Tea is at four.');
const INVALID = { success: false, message: 'Authentication error: invalid token', error: 'invalid_token' };
const NOT_FOUND = { success: false, message: 'Not found' };

/** Personal access tokens: how users make and revoke them, and what they open. */
export function accessTokensStory(makeBacking: MakeBacking): void {
  let world: World;
  let agent: Readonly<{ id: string; key: string }>;
  let other: Readonly<{ id: string; key: string }>;

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    agent = await world.agent({ name: 'One' });
    other = await world.agent({ name: 'Two' });
  });
  afterAll(() => world.close());
  beforeEach(() => world.model.reset());

  const refusal = async (responding: Promise<Response>) => {
    const { status, body } = await replyOf(responding);
    const { error, code, required_scope } = body as { error: string; code?: string; required_scope?: string };
    return [status, code ?? error, ...(required_scope === undefined ? [] : [required_scope])];
  };

  describe('a token', () => {
    it('is shown once, listed without its secret, and authenticates its user', async () => {
      const { id, token, client } = await tokenFor(world, { scopes: ['agents:read'], name: 'Import' });
      expect(token).toMatch(/^dgpt_pat_[\w-]{43}$/);
      const { tokens, scopes, policy } = await world.alice.json<{
        tokens: { id: string }[];
        scopes: object[];
        policy: object;
      }>('/api/user/tokens');
      expect(tokens.find((each) => each.id === id)).toMatchObject({
        name: 'Import',
        token_prefix: token.slice(0, 15),
        scopes: ['agents:read'],
        resource_filter: {},
        status: 'active',
        last_used_at: null,
        revoked_at: null,
      });
      expect(scopes).toHaveLength(20);
      expect(policy).toMatchObject({ enabled: true, default_lifetime_days: 90, max_lifetime_days: 365, max_per_user: 25 });
      expect((await client.json<object[]>('/api/get_agents')).length).toBeGreaterThan(0);
      expect(await client.json('/api/user/me')).toMatchObject({
        user_id: (await world.alice.json('/api/user/me'))['user_id'],
        auth_method: 'pat',
        token: { id, name: 'Import', scopes: ['agents:read'], resource_filter: {} },
      });
      const listing = await replyOf(world.alice.get('/api/user/tokens'));
      expect(listing.text).not.toContain(token);
      expect((listing.body as { tokens: { id: string }[] }).tokens.find((each) => each.id === id)).toMatchObject({
        last_used_at: expect.any(String),
      });
      expect((await world.bob.json<{ tokens: object[] }>('/api/user/tokens')).tokens).toEqual([]);
    });

    it.each<[string, object, number]>([
      ['without a name', { scopes: ['chat:run'] }, 400],
      ['without a scope', { name: 'x', scopes: [] }, 400],
      ['with an unknown scope', { name: 'x', scopes: ['agents:all'] }, 400],
      ['with too long a lifetime', { name: 'x', scopes: ['chat:run'], expires_in_days: 366 }, 400],
      ['without an expiry', { name: 'x', scopes: ['chat:run'], expires_in_days: 0 }, 400],
      ['restricted in a family without a scope', { name: 'x', scopes: ['chat:run'], resource_filter: { tools: [newId()] } }, 400],
      ['restricted to an invalid id', { name: 'x', scopes: ['agents:read'], resource_filter: { agents: ['all'] } }, 400],
      ['restricted to nothing', { name: 'x', scopes: ['agents:read'], resource_filter: { agents: [] } }, 400],
      ['with the name of another one', { name: 'Import', scopes: ['chat:run'] }, 409],
    ])('is not created %s', async (_, body, status) => {
      expect((await world.alice.post('/api/user/tokens', body)).status).toBe(status);
    });

    it('is refused once it is revoked, and another user cannot revoke it', async () => {
      const { id, client } = await tokenFor(world, { scopes: ['agents:read'] });
      expect((await world.bob.delete(`/api/user/tokens/${id}`)).status).toBe(404);
      expect((await client.get('/api/get_agents')).status).toBe(200);
      expect((await world.alice.delete(`/api/user/tokens/${id}`)).status).toBe(200);
      expect(await replyOf(client.get('/api/get_agents'))).toMatchObject({ status: 401, body: INVALID });
      expect((await world.alice.delete(`/api/user/tokens/${id}`)).status).toBe(404);
    });

    it('gets another secret when it is regenerated, and keeps its scopes', async () => {
      const { id, token, client } = await tokenFor(world, { scopes: ['agents:read'] });
      const path = `/api/user/tokens/${id}/regenerate`;
      expect((await world.bob.post(path, {})).status).toBe(404);
      const { token: next } = (await replyOf(world.alice.post(path, {}))).body as { token: string };
      expect(next).not.toBe(token);
      expect((await client.get('/api/get_agents')).status).toBe(401);
      expect((await bearerOf(client.url, next).get('/api/get_agents')).status).toBe(200);
      expect(await refusal(bearerOf(client.url, next).get('/api/sources'))).toEqual([403, 'insufficient_scope', 'sources:read']);
    });

    it('cannot create, change or revoke tokens', async () => {
      const { id, client } = await tokenFor(world, { scopes: ['agents:write', 'agents:keys', 'chat:run'] });
      for (const trying of [
        client.get('/api/user/tokens'),
        client.post('/api/user/tokens', { name: 'More', scopes: ['chat:run'] }),
        client.post(`/api/user/tokens/${id}/regenerate`, {}),
        client.delete(`/api/user/tokens/${id}`),
      ])
        expect(await refusal(trying)).toEqual([403, 'not_available_to_tokens']);
    });

    it('is one of at most 25 per user', async () => {
      const carol = await world.as('carol');
      for (let made = 0; made < 25; made++) await tokenFor(world, { scopes: ['chat:run'] }, carol);
      const body = { name: 'One more', scopes: ['chat:run'] };
      expect(await refusal(carol.post('/api/user/tokens', body))).toEqual([409, 'too_many_tokens']);
      const { tokens } = await carol.json<{ tokens: { id: string }[] }>('/api/user/tokens');
      await carol.delete(`/api/user/tokens/${tokens[0]!.id}`);
      expect((await carol.post('/api/user/tokens', body)).status).toBe(201);
    });

    it.each(['dgpt_pat_', 'dgpt_pat_nonsense', `dgpt_pat_${'x'.repeat(10_000)}`])(
      'is refused when it is malformed: %#',
      async (token) => {
        expect(await replyOf(bearerOf(world.service.url, token).get('/api/get_agents'))).toMatchObject({
          status: 401,
          body: INVALID,
        });
      },
    );
  });

  it.each<[string, (client: Client) => Promise<Response>]>([
    ['GET /api/activity/now', (client) => client.get('/api/activity/now')],
    ['GET /api/activity/planned', (client) => client.get('/api/activity/planned')],
    ['GET /api/activity/history', (client) => client.get('/api/activity/history')],
    ['GET /api/monitors', (client) => client.get('/api/monitors')],
    ['GET /api/events', (client) => client.get('/api/events')],
    ['GET /api/audit/events', (client) => client.get('/api/audit/events')],
    ['POST /api/messages/:id/cancel', (client) => client.post(`/api/messages/${newId()}/cancel`, {})],
    ['GET /api/artifact/:id', (client) => client.get(`/api/artifact/${newId()}`)],
  ])('%s is closed to every token', async (_, use) => {
    const all = Object.keys((await import('../../src/kernel/access.js')).SCOPES);
    const { client } = await tokenFor(world, { scopes: all });
    const { status, body } = await replyOf(use(client));
    expect(status).toBe(403);
    expect(body).toEqual({
      success: false,
      error: 'not_available_to_tokens',
      message: 'This endpoint cannot be called with a personal access token',
    });
  });

  describe('keys and webhooks', () => {
    const whole = { description: 'Knows', chunks: 4, retriever: 'classic', prompt_id: 'default', status: 'published' };

    it('are shown in full only to tokens with agents:keys', async () => {
      const writer = await tokenFor(world, { scopes: ['agents:write'] });
      const keeper = await tokenFor(world, { scopes: ['agents:write', 'agents:keys'] });
      const made = async ({ client }: MadeToken) =>
        ((await replyOf(client.post('/api/create_agent', { ...whole, name: 'New' }))).body as { key: string }).key;
      expect(await made(writer)).toMatch(/^[0-9a-f]{4}\.\.\.[0-9a-f]{4}$/);
      expect(await made(keeper)).toMatch(/^[0-9a-f-]{36}$/);
      for (const use of [
        (client: Client) => client.post(`/api/regenerate_agent_key/${other.id}`, {}),
        (client: Client) => client.get(`/api/agent_webhook?id=${other.id}`),
      ]) {
        expect(await refusal(use(writer.client))).toEqual([403, 'insufficient_scope', 'agents:keys']);
        expect((await use(keeper.client)).status).toBe(200);
      }
    });
  });

  describe('a token that is restricted to one agent', () => {
    let restricted: MadeToken;
    beforeAll(async () => {
      restricted = await tokenFor(world, {
        scopes: ['agents:write', 'conversations:read', 'conversations:write', 'schedules:write', 'sources:read', 'chat:run'],
        resource_filter: { agents: [agent.id] },
      });
    });

    it('sees and changes only that agent', async () => {
      const { client } = restricted;
      const listed = await client.json<{ id: string }[]>('/api/get_agents');
      expect(listed.map(({ id }) => id)).toEqual([agent.id]);
      expect((await client.get(`/api/get_agent?id=${agent.id}`)).status).toBe(200);
      expect((await client.put(`/api/update_agent/${agent.id}`, { description: 'Knows more' })).status).toBe(200);
      for (const trying of [
        client.get(`/api/get_agent?id=${other.id}`),
        client.get(`/api/get_agent?id=${agent.id}&id=${other.id}`),
        client.get(`/api/get_agent?id=${newId()}`),
        client.put(`/api/update_agent/${other.id}`, { description: 'Mine' }),
        client.delete(`/api/delete_agent?id=${other.id}`),
        client.post(`/api/pin_agent?id=${other.id}`, {}),
        client.post('/api/create_agent', { name: 'New', status: 'draft' }),
        client.get(`/api/agents/${other.id}/schedules`),
        client.get('/api/get_conversations'),
        client.get('/api/search_conversations?q=why'),
        client.post('/api/feedback', { conversation_id: newId(), question_index: 0, feedback: 'like' }),
      ])
        expect(await refusal(trying)).toEqual([403, 'resource_not_allowed']);
      expect((await client.get(`/api/agents/${agent.id}/schedules`)).status).toBe(200);
      expect((await client.get('/api/sources')).status).toBe(200);
    });

    it.each(['/stream', '/api/answer'] as const)('asks only that agent, and not with a key: %s', async (route) => {
      const { client } = restricted;
      const mine = await world.alice.stream({ question, agent_id: other.id });
      const conversation_id = conversationIdIn(mine);
      for (const body of [
        { question },
        { question, agent_id: other.id },
        { question, api_key: agent.key },
        { question, agent_id: agent.id, conversation_id },
      ])
        expect(await refusal(client.post(route, body))).toEqual([403, expect.stringMatching(/resource_not_allowed/)]);
      expect(await refusal(client.post('/api/search', { question, api_key: agent.key }))).toEqual([403, 'resource_not_allowed']);
      const asked = await askOver(route, client, { question, agent_id: agent.id });
      expect(asked.status).toBe(200);
      const again = await askOver(route, client, { question, agent_id: agent.id, conversation_id: asked.conversationId });
      expect(again.status).toBe(200);
    });

    it('reads the journals of its own questions, and no others', async () => {
      const { client } = restricted;
      const own = messageIdIn(await client.stream({ question, agent_id: agent.id }));
      const byOwner = messageIdIn(await world.alice.stream({ question, agent_id: agent.id }));
      const twin = await tokenFor(world, { scopes: ['chat:run'], resource_filter: { agents: [agent.id] } });
      const unrestricted = await tokenFor(world, { scopes: ['chat:run'] });
      for (const reading of ['events', 'tail', 'digest']) {
        expect((await client.get(`/api/messages/${own}/${reading}`)).status).toBe(200);
        expect(await replyOf(client.get(`/api/messages/${byOwner}/${reading}`))).toMatchObject({ status: 404, body: NOT_FOUND });
        expect((await twin.client.get(`/api/messages/${own}/${reading}`)).status).toBe(404);
        expect((await unrestricted.client.get(`/api/messages/${byOwner}/${reading}`)).status).toBe(200);
        expect((await world.alice.get(`/api/messages/${own}/${reading}`)).status).toBe(200);
      }
    });

    it('attaches only what it uploaded itself', async () => {
      const [own, byOwner] = [await readyAttachment(restricted.client, FILE), await readyAttachment(world.alice, FILE)];
      const ask = (client: Client, id: string) =>
        client.stream({ question, agent_id: agent.id, attachments: [id] }).then(({ status }) => status);
      expect(await ask(restricted.client, byOwner)).toBe(404);
      expect(await ask(restricted.client, own)).toBe(200);
      const unrestricted = await tokenFor(world, { scopes: ['chat:run'] });
      expect([await ask(unrestricted.client, byOwner), await ask(world.alice, own)]).toEqual([200, 200]);
    });

    it('cannot give an agent a resource that it does not reach', async () => {
      const prompt = async (name: string) =>
        ((await replyOf(world.alice.post('/api/create_prompt', { name, content: 'x' }))).body as { id: string }).id;
      const [mine, hidden] = [await prompt('Mine'), await prompt('Hidden')];
      const scopes = ['agents:write', 'prompts:write'];
      const { client } = await tokenFor(world, { scopes, resource_filter: { prompts: [mine] } });
      const update = (prompt_id: string) => client.put(`/api/update_agent/${agent.id}`, { prompt_id });
      expect(await refusal(update(hidden))).toEqual([403, 'resource_not_allowed']);
      expect((await update(mine)).status).toBe(200);
      const listed = await client.json<{ id: string }[]>('/api/get_prompts');
      expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(['default', mine]));
      expect(listed.map(({ id }) => id)).not.toContain(hidden);
      expect(await refusal(client.post('/api/update_prompt', { id: hidden, name: 'x', content: 'y' }))).toEqual([
        403,
        'resource_not_allowed',
      ]);
      await world.alice.put(`/api/update_agent/${agent.id}`, { prompt_id: 'default' });
    });
  });

  it('a token decides only on calls of its own questions, the owner on all', async () => {
    world.service.service.app.get(ToolKinds, { strict: false }).add(new ToolKindForTests());
    const card = { name: 'postcard', displayName: 'Cards', description: 'Mine', config: { token: 't' }, status: true };
    const { id } = (await (await world.alice.post('/api/create_tool', card)).json()) as { id: string };
    const { tools } = await world.alice.json<{ tools: { id: string; actions: object[] }[] }>('/api/get_tools');
    const actions = tools.find((tool) => tool.id === id)!.actions.map((action) => ({ ...action, require_approval: true }));
    await world.alice.post('/api/update_tool_actions', { id, actions });
    const sender = await world.agent({ tools: [id] });
    const [one, two] = [await tokenFor(world, { scopes: ['chat:run'] }), await tokenFor(world, { scopes: ['chat:run'] })];
    const pausedBy = async (client: Client, callId: string) => {
      world.model.next([...say('Let me. '), call(callId, 'send_card', { to: 'bob' })]);
      return askOver('/stream', client, { question: 'Send it.', agent_id: sender.id });
    };
    const decide = (client: Client, conversation_id: string, call_id: string) =>
      client.post('/api/answer', { conversation_id, tool_actions: [{ call_id, decision: 'denied' }] });
    const byToken = await pausedBy(one.client, 'c1');
    expect(await refusal(decide(two.client, byToken.conversationId, 'c1'))).toEqual([403, 'resource_not_allowed']);
    const byOwner = await pausedBy(world.alice, 'c2');
    expect(await refusal(decide(one.client, byOwner.conversationId, 'c2'))).toEqual([403, 'resource_not_allowed']);
    world.model.next(say('Not sent.'), say('Not sent.'));
    expect((await decide(one.client, byToken.conversationId, 'c1')).status).toBe(200);
    expect((await decide(world.alice, byOwner.conversationId, 'c2')).status).toBe(200);
  });

  it('an idempotency key is separate for each credential', async () => {
    const tokens = [await tokenFor(world, { scopes: ['chat:run'] }), await tokenFor(world, { scopes: ['chat:run'] })];
    const once = { 'idempotency-key': newId() };
    const clients = [world.alice, ...tokens.map(({ client }) => client)];
    const asked: string[] = [];
    for (const client of clients) asked.push(messageIdIn(await client.stream({ question }, undefined, once)));
    expect(new Set(asked).size).toBe(clients.length);
    for (const [index, client] of clients.entries())
      expect(messageIdIn(await client.stream({ question }, undefined, once))).toBe(asked[index]);
  });

  it('a change with a token names the token, in the log and for its owner, and nothing contains its secret', async () => {
    const { id, token, client } = await tokenFor(world, { scopes: ['prompts:write', 'chat:run'] });
    const { id: promptId } = (await replyOf(client.post('/api/create_prompt', { name: 'By CI', content: 'x' }))).body as {
      id: string;
    };
    await client.stream({ question });
    let events: readonly object[] = [];
    await eventually(async () => {
      const path = `/api/audit/events?stream=prompt-${promptId}`;
      ({ events } = await world.alice.json<{ events: object[] }>(path));
      return events.length > 0;
    });
    expect(events).toMatchObject([{ type: 'PromptCreated', actor: `access-token:${id}`, credential: 'access-token' }]);
    const secret = token.slice('dgpt_pat_'.length + 6);
    await world.quietHead();
    let seen = 0;
    for await (const page of world.backing.store.readAll({ after: LOG_START })) {
      for (const { data, metadata, stream } of page.events) {
        seen++;
        expect(`${stream} ${data} ${metadata}`).not.toContain(secret);
      }
    }
    expect(seen).toBeGreaterThan(20);
    for (const path of ['/metrics', '/api/ready', '/api/user/tokens', '/api/user/me', '/api/audit/events', '/api/get_prompts']) {
      expect((await replyOf(world.alice.get(path))).text).not.toContain(secret);
    }
  });

  it('no log line contains the secret of a token, whatever the outcome of the request', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const service = await serviceForTests({ AUTH_TYPE: 'none', LOG_LEVEL: 'trace' }, makeBacking, log);
    try {
      const local = new Client(service.url);
      const { id, token, client } = await tokenFor({ alice: local }, { scopes: ['chat:run'] });
      const uses = async () => {
        await (await client.post('/api/answer', { question })).text();
        await (await client.get('/api/get_agents')).text();
        await (await client.get(`/api/get_agents?token=${newId()}`)).text();
        await (await client.post('/stream', '{')).text();
      };
      await uses();
      const { token: next } = (await replyOf(local.post(`/api/user/tokens/${id}/regenerate`, {}))).body as { token: string };
      await uses();
      await local.delete(`/api/user/tokens/${id}`);
      await uses();
      const text = lines.join('');
      expect(lines.length).toBeGreaterThan(0);
      for (const secret of [token, next].map((each) => each.slice('dgpt_pat_'.length + 6))) expect(text).not.toContain(secret);
    } finally {
      await service.close();
    }
  });

  describe.each<[string, Readonly<Record<string, string>>]>([
    ['there is no sign-in', { AUTH_TYPE: 'none' }],
    ['all share one token', { AUTH_TYPE: 'simple_jwt' }],
  ])('where %s', (_, settings) => {
    let elsewhere: World;
    beforeAll(async () => {
      elsewhere = await openWorld(settings, makeBacking);
    });
    afterAll(() => elsewhere.close());

    it('a token in the request still restricts it', async () => {
      const local = settings['AUTH_TYPE'] === 'none' ? elsewhere.nobody : await elsewhere.as('local');
      const { id, client } = await tokenFor(elsewhere, { scopes: ['prompts:read'] }, local);
      expect((await client.get('/api/get_prompts')).status).toBe(200);
      expect(await refusal(client.get('/api/get_agents'))).toEqual([403, 'insufficient_scope', 'agents:read']);
      expect(await refusal(client.get('/api/activity/now'))).toEqual([403, 'not_available_to_tokens']);
      await local.delete(`/api/user/tokens/${id}`);
      expect(await refusal(client.get('/api/get_prompts'))).toEqual([401, 'invalid_token']);
    });
  });
}
