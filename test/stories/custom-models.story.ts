import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { CredentialVault } from '../../src/platform/credentials/credential-vault.port.js';
import { LOG_START } from '../../src/kernel/event-sourcing/event-store.js';
import { tokenFor } from '../support/access-tokens.js';
import type { MakeBacking } from '../support/backing.js';
import { append } from '../support/accounts.js';
import { answerIn, Client, messageIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer, redirect } from '../support/local-server.js';
import { ScheduleCalls } from '../support/schedules.js';
import { broken, cut, hang, refuse, say, ScriptedModelServer } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const KEY = 'planted-key-4711-canary';

/** Models that users add: who may use them, what is sent to their endpoints, and which errors are reported. */
export function customModelsStory(makeBacking: MakeBacking): void {
  let world: World;
  let cellar: ScriptedModelServer;
  let other: LocalServer;
  let custom: Readonly<Record<string, unknown>>;
  const heard: string[] = [];

  beforeAll(async () => {
    [cellar, other] = [await ScriptedModelServer.start(), await LocalServer.started()];
    const allowed = [new URL(cellar.url).host, other.host].join(',');
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: allowed }, makeBacking);
    custom = {
      display_name: 'Cellar',
      upstream_model_id: 'llama',
      base_url: cellar.url,
      api_key: KEY,
      capabilities: { supports_tools: false, context_window: 32_000 },
    };
  });
  afterAll(async () => {
    await world.close();
    await Promise.all([cellar.close(), other.close()]);
  });
  beforeEach(() => {
    world.model.reset();
    cellar.reset();
    cellar.always(say('From', ' the', ' cellar.'));
  });

  const send = async (method: string, path: string, body?: unknown, client: Client = world.alice) => {
    const init = {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    };
    const reply = await replyOf(client.request(`/api/user/models${path}`, init));
    heard.push(reply.text);
    return { status: reply.status, body: reply.body as Record<string, unknown> };
  };
  const added = async (fields: object = {}, client: Client = world.alice): Promise<string> => {
    const { status, body } = await send('POST', '', { ...custom, ...fields }, client);
    expect(status).toBe(201);
    return String(body['id']);
  };
  const answerOf = async (body: object, client: Client = world.alice) => {
    const reply = await replyOf(client.post('/api/answer', { question: 'Where?', ...body }));
    return { status: reply.status, body: reply.body };
  };
  const NO_MODEL = /model_id names no model of this service/;

  describe('a custom model', () => {
    it('is shown to its owner without its key, and among the available models', async () => {
      const created = await send('POST', '', { ...custom, description: 'Slow', enabled: true });
      const id = String(created.body['id']);
      const record = {
        ...{ id, upstream_model_id: 'llama', display_name: 'Cellar', description: 'Slow', base_url: cellar.url },
        ...{ capabilities: { supports_tools: false, context_window: 32_000 }, enabled: true, source: 'user' },
      };
      expect(created).toEqual({ status: 201, body: record });
      expect((await send('GET', `/${id}`)).body).toEqual(record);
      expect((await send('GET', '')).body['models']).toContainEqual(record);
      const listed = async (client: Client) =>
        (await client.json<{ models: { id: string }[] }>('/api/models')).models.find((model) => model.id === id);
      expect(await listed(world.alice)).toMatchObject({
        ...{ display_name: 'Cellar', supports_tools: false, context_window: 32_000, enabled: true, source: 'user' },
      });
      expect([await listed(world.bob), await listed(world.nobody)]).toEqual([undefined, undefined]);
    });

    it('answers its owner, with its upstream name and its own key', async () => {
      const id = await added();
      expect(await answerOf({ model_id: id })).toMatchObject({ status: 200, body: { answer: 'From the cellar.' } });
      const [request] = cellar.completions;
      expect(request!.body).toMatchObject({ model: 'llama', stream: true });
      expect(request!.headers['authorization']).toBe(`Bearer ${KEY}`);
      expect(world.model.completions).toEqual([]);
      expect(answerIn(await world.alice.stream({ question: 'Where?', model_id: id }))).toBe('From the cellar.');
    });

    it('does not exist for other users', async () => {
      const id = await added();
      const { status, body: refusal } = await answerOf({ model_id: id }, world.bob);
      expect([status, refusal]).toEqual([400, { error: expect.stringMatching(NO_MODEL) }]);
      const refused = await replyOf(
        world.bob.post('/api/create_agent', { name: 'Thief', status: 'draft', default_model_id: id }),
      );
      expect(refused.status).toBe(400);
      for (const [method, path, body] of [
        ['GET', `/${id}`, undefined],
        ['PATCH', `/${id}`, { enabled: false }],
        ['DELETE', `/${id}`, undefined],
        ['POST', `/${id}/test`, {}],
      ] as const) {
        expect((await send(method, path, body, world.bob)).status).toBe(404);
        expect((await send(method, path.replace(id, newId()), body, world.bob)).status).toBe(404);
      }
      expect(cellar.completions).toEqual([]);
    });

    it('serves callers of its owner’s agent, who can name no other model of the owner and none of their own', async () => {
      const [id, offered, another] = [await added(), await added(), await added()];
      const agent = await world.agent({ default_model_id: id, models: [offered] });
      const stranger = world.nobody;
      const ask = (more: object) => answerOf({ api_key: agent.key, ...more }, stranger);
      expect(await ask({})).toMatchObject({ status: 200, body: { answer: 'From the cellar.' } });
      expect(await ask({ model_id: offered })).toMatchObject({ status: 200, body: { answer: 'From the cellar.' } });
      expect(cellar.completions).toHaveLength(2);
      const bobs = await added({}, world.bob);
      for (const model_id of [another, bobs]) expect(await ask({ model_id })).toMatchObject({ status: 400 });
      expect(await answerOf({ api_key: agent.key, model_id: bobs }, world.bob)).toMatchObject({ status: 400 });
      expect(cellar.completions).toHaveLength(2);
    });

    it('runs the schedules of its owner', async () => {
      const id = await added();
      const calls = await ScheduleCalls.of(world);
      const agent = await world.agent();
      const schedule = await calls.create(agent.id, { model_id: id });
      await calls.runNow(schedule.id);
      expect(await calls.endOfRun(schedule.id)).toMatchObject({ status: 'success', output: 'From the cellar.' });
    });

    it('is unavailable when it is disabled or deleted, and its agents answer with the default', async () => {
      const id = await added();
      const agent = await world.agent({ default_model_id: id });
      world.model.always(say('From upstairs.'));
      expect((await send('PATCH', `/${id}`, { enabled: false })).body).toMatchObject({ enabled: false });
      expect(await answerOf({ model_id: id })).toMatchObject({ status: 400 });
      expect(await answerOf({ agent_id: agent.id })).toMatchObject({ body: { answer: 'From upstairs.' } });
      expect((await send('PATCH', `/${id}`, { enabled: true })).body).toMatchObject({ enabled: true });
      expect(await answerOf({ agent_id: agent.id })).toMatchObject({ body: { answer: 'From the cellar.' } });
      expect(await send('DELETE', `/${id}`)).toEqual({ status: 200, body: { success: true } });
      expect((await send('GET', `/${id}`)).status).toBe(404);
      expect(await answerOf({ model_id: id })).toMatchObject({ status: 400 });
    });

    it('reports that its endpoint refused the key, without the key', async () => {
      cellar.always([refuse(401, `Incorrect API key provided: ${KEY}`)]);
      const { frames } = await world.alice.stream({ question: 'Where?', model_id: await added() });
      const errors = frames.flatMap(({ data }) => (data.type === 'error' ? [data['error']] : []));
      expect(errors).toEqual(['The endpoint of this custom model refused its API key.']);
    });
  });

  describe('an answer of a custom model', () => {
    it('closes the connection to the endpoint when it is stopped', async () => {
      cellar.always([...say('One'), hang]);
      const body = { question: 'Where?', model_id: await added() };
      const answer = await world.alice.stream(body, (text) => text.includes('One'));
      const id = messageIdIn(answer);
      expect((await world.alice.post(`/api/messages/${id}/cancel`, '')).status).toBe(202);
      expect((await world.alice.resume(id)).frames.at(-1)!.data).toMatchObject({ type: 'error', code: 'stopped' });
      await eventually(() => cellar.completions.at(-1)!.closed);
    });

    it.each([
      ['breaks off', () => cellar.always([...say('One'), cut]), 'unavailable'],
      ['says that it failed', () => cellar.always([...say('One'), broken]), 'unavailable'],
      ['does not know the model', () => cellar.always([refuse(404)]), 'unknown_model'],
    ])('ends with an error when the endpoint %s', async (_, breaks, code) => {
      breaks();
      const { frames } = await world.alice.stream({ question: 'Where?', model_id: await added() });
      expect(frames.slice(-3).map(({ data }) => data['code'] ?? data.type)).toEqual([code, 'id', 'end']);
    });

    it('does not follow a redirect of its endpoint', async () => {
      other.answer = (_, response) => redirect(response, `${cellar.url}/chat/completions`, 307);
      const { frames } = await world.alice.stream({ question: 'Where?', model_id: await added({ base_url: other.url }) });
      expect(frames.some(({ data }) => data.type === 'error')).toBe(true);
      expect(cellar.completions).toEqual([]);
    });

    it('connects to no host that now resolves to an internal address', async () => {
      const id = await added({ base_url: 'https://no-such-host.invalid/v1' });
      const owner = await world.idOf('alice');
      const vault = world.service.service.app.get(CredentialVault, { strict: false });
      const credentialsId = await vault.keep(owner, { api_key: 'for-the-inside' });
      const changes = { baseUrl: `http://127.0.0.2:${new URL(cellar.url).port}/v1`, credentialsId };
      await append(world.backing.store, `customModel-${id}`, { type: 'CustomModelChanged', data: { modelId: id, changes } });
      const { frames } = await world.alice.stream({ question: 'Where?', model_id: id });
      const error = frames.find(({ data }) => data.type === 'error')!.data;
      expect(error).toMatchObject({
        code: 'not_reachable',
        error: 'The address of this language model may not be reached from here.',
      });
      expect(cellar.completions).toEqual([]);
    });
  });

  describe('a change', () => {
    it('keeps omitted fields, and the key if it is empty', async () => {
      const id = await added();
      const { status, body } = await send('PATCH', `/${id}`, { display_name: 'Attic', api_key: '' });
      expect([status, body]).toMatchObject([200, { display_name: 'Attic', upstream_model_id: 'llama' }]);
      await answerOf({ model_id: id });
      expect(cellar.completions[0]!.headers['authorization']).toBe(`Bearer ${KEY}`);
    });

    it('of the key is effective at once, and the old key is deleted', async () => {
      const id = await added();
      await answerOf({ model_id: id });
      expect((await send('PATCH', `/${id}`, { api_key: 'the-next-key' })).status).toBe(200);
      await answerOf({ model_id: id });
      expect(cellar.completions.map(({ headers }) => headers['authorization'])).toEqual([`Bearer ${KEY}`, 'Bearer the-next-key']);
      const events = await eventsOf(`customModel-${id}`);
      const kept = events.flatMap((text) => /"credentialsId":"([^"]+)"/.exec(text)?.[1] ?? []);
      const vault = world.service.service.app.get(CredentialVault, { strict: false });
      const owner = await world.idOf('alice');
      const isThere = (credentials: string) =>
        vault.reveal(owner, credentials).then(
          () => true,
          () => false,
        );
      expect(kept).toHaveLength(2);
      await eventually(async () => !(await isThere(kept[0]!)));
      expect(await isThere(kept[1]!)).toBe(true);
      await send('DELETE', `/${id}`);
      await eventually(async () => !(await isThere(kept[1]!)));
    });

    it('of the server requires a key for it', async () => {
      const id = await added();
      expect(await send('PATCH', `/${id}`, { base_url: `${other.url}/v1` })).toMatchObject({ status: 400 });
      expect(await send('PATCH', `/${id}`, { base_url: `${other.url}/v1`, api_key: 'for-the-other' })).toMatchObject({
        status: 200,
      });
    });

    it('without a field is refused', async () => {
      const id = await added();
      for (const body of [{}, { unknown: 1 }, { api_key: '' }]) {
        expect(await send('PATCH', `/${id}`, body)).toMatchObject({ status: 400, body: { message: 'no updatable fields' } });
      }
    });
  });

  describe('a test', () => {
    it('reports that the endpoint responds', async () => {
      expect(await send('POST', '/test', custom)).toEqual({ status: 200, body: { ok: true } });
      expect(cellar.completions[0]!.body).toMatchObject({ model: 'llama', max_tokens: 1, stream: false });
      const id = await added();
      expect(await send('POST', `/${id}/test`, {})).toEqual({ status: 200, body: { ok: true } });
      expect(await send('POST', `/${id}/test`, { ...custom, api_key: '' })).toEqual({ status: 200, body: { ok: true } });
      expect(cellar.completions.map(({ headers }) => headers['authorization'])).toEqual(Array(3).fill(`Bearer ${KEY}`));
    });

    it('asks again if the endpoint requires the newer name of its limit', async () => {
      cellar.next([refuse(400, "Use 'max_completion_tokens' instead.")]);
      expect(await send('POST', '/test', custom)).toEqual({ status: 200, body: { ok: true } });
      expect(cellar.completions[1]!.body).toMatchObject({ max_completion_tokens: 16 });
    });

    it('reports the endpoint’s JSON, up to 500 characters and without the key', async () => {
      cellar.always([refuse(401, `Wrong key: ${KEY} ${'x'.repeat(900)}`)]);
      const { status, body } = await send('POST', '/test', custom);
      expect([status, body['ok'], String(body['error']).length]).toEqual([200, false, 500]);
      expect(body['error']).toContain('HTTP 401: {"error":{"message":"Wrong key: [secret]');
    });

    it.each([
      [
        'a page that is not JSON',
        (_: unknown, response: Parameters<LocalServer['answer']>[1]) => response.writeHead(500).end('intern'),
        /^The endpoint answered with HTTP 500\.$/,
      ],
      [
        'a redirect',
        (_: unknown, response: Parameters<LocalServer['answer']>[1]) => redirect(response, cellar.url),
        /HTTP 302: redirects are not followed/,
      ],
      [
        'an error in another format',
        (_: unknown, response: Parameters<LocalServer['answer']>[1]) => answerJson(response, { error: 'no' }, 403),
        /HTTP 403: \{"error":"no"\}/,
      ],
    ])('returns 200 without ok for %s', async (_, answer, error) => {
      other.answer = answer;
      const { status, body } = await send('POST', '/test', { ...custom, base_url: other.url });
      expect([status, body]).toEqual([200, { ok: false, error: expect.stringMatching(error) }]);
      expect(cellar.completions).toEqual([]);
    });

    it('reports a server that does not exist', async () => {
      const gone = await LocalServer.started();
      await gone.close();
      const { status, body } = await send('POST', '/test', { ...custom, base_url: 'https://no-such-host.invalid/v1' });
      expect([status, body['ok']]).toEqual([200, false]);
    });

    it('of an internal address is refused', async () => {
      for (const base_url of ['http://127.0.0.1:1/v1', 'http://169.254.169.254/v1', 'http://localhost/v1', 'http://[::1]/v1']) {
        const { status, body } = await send('POST', '/test', { ...custom, base_url });
        expect([base_url, status, body['ok']]).toEqual([base_url, 400, false]);
        expect((await send('POST', '', { ...custom, base_url })).status).toBe(400);
      }
    });

    it('does not send the stored key to another address', async () => {
      const id = await added();
      const before = other.requests.length;
      expect((await send('POST', `/${id}/test`, { base_url: other.url })).status).toBe(400);
      expect(other.requests).toHaveLength(before);
      other.answer = (_, response) => answerJson(response, {});
      expect(await send('POST', `/${id}/test`, { base_url: other.url, api_key: 'mine' })).toEqual({
        status: 200,
        body: { ok: true },
      });
      expect(other.requests.at(-1)!.headers['authorization']).toBe('Bearer mine');
    });
  });

  it.each([
    ['no fields', () => ({ upstream_model_id: undefined }), /Missing required fields: upstream_model_id/],
    ['a blank name', () => ({ display_name: ' ' }), /'display_name' must be a non-empty string/],
    ['a blank key', () => ({ api_key: ' ' }), /'api_key' must be a non-empty string/],
    ['a key that cannot be sent', () => ({ api_key: 'schlüssel' }), /api_key/],
    ['a number for a name', () => ({ display_name: 7 }), /display_name must be a string/],
    ['no URL', () => ({ base_url: 'models' }), /base_url/],
    ['another protocol', () => ({ base_url: 'ftp://models.example' }), /base_url: Only http and https/],
    ['a URL with a password', () => ({ base_url: 'https://a:b@models.example' }), /base_url/],
    ['a URL with a query', () => ({ base_url: 'https://models.example/?key=1' }), /base_url must have no query/],
    ['capabilities that are a list', () => ({ capabilities: [] }), /capabilities/],
    ['a flag in words', () => ({ capabilities: { supports_tools: 'yes' } }), /supports_tools' must be true or false/],
    ['a small window', () => ({ capabilities: { context_window: 999 } }), /between 1000 and 10000000/],
    ['an unknown group of files', () => ({ capabilities: { attachments: ['video'] } }), /attachments' must hold MIME types/],
    ['an unknown API', () => ({ capabilities: { api_flavor: 'responses' } }), /api_flavor' must be one of \[chat_completions\]/],
    ['an unknown effort', () => ({ capabilities: { reasoning_effort: 'huge' } }), /reasoning_effort' must be one of/],
    ['a name that is too long', () => ({ display_name: 'x'.repeat(201) }), /display_name/],
  ])('refuses %s, and stores nothing', async (_, fields, message) => {
    const before = (await send('GET', '')).body;
    const { status, body } = await send('POST', '', { ...custom, ...fields() });
    expect([status, body['message']]).toEqual([400, expect.stringMatching(message)]);
    expect((await send('GET', '')).body).toEqual(before);
  });

  it('tokens need the scopes of models', async () => {
    const reader = await tokenFor(world, { scopes: ['models:read'] });
    const client = new Client(world.service.url, { authorization: `Bearer ${reader.token}` });
    expect((await send('GET', '', undefined, client)).status).toBe(200);
    expect((await send('POST', '', custom, client)).status).toBe(403);
    expect((await send('POST', '/test', custom, client)).status).toBe(403);
    expect((await send('GET', '', undefined, world.nobody)).status).toBe(401);
  });

  it('no response or event contains a key', async () => {
    await added();
    const stored: string[] = [];
    for await (const page of world.backing.store.readAll({ after: LOG_START }))
      stored.push(...page.events.map(({ data }) => data));
    expect(stored.length).toBeGreaterThan(10);
    expect(stored.filter((text) => text.includes(KEY))).toEqual([]);
    expect(heard.filter((text) => text.includes(KEY))).toEqual([]);
  });

  async function eventsOf(stream: string): Promise<string[]> {
    const found: string[] = [];
    for await (const page of world.backing.store.read(stream)) found.push(...page.map(({ data }) => data));
    return found;
  }
}
