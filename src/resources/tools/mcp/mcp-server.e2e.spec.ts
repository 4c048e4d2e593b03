import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AuthorizationServerForTests, authorizationServerForTests } from '../../../../test/support/authorization-server.js';
import { Client } from '../../../../test/support/client.js';
import { mcpServerForTests, type McpServerForTests } from '../../../../test/support/mcp-server.js';
import { serviceForTests, type TestService } from '../../../../test/support/service.js';
import { TabForTests } from '../../../../test/support/tab.js';

type Answer = Record<string, unknown>;

let service: TestService;
let server: McpServerForTests;
let guarded: AuthorizationServerForTests;
let alice: Client;
let bob: Client;

const TOKEN = 'a bearer token of alice';

beforeAll(async () => {
  server = await mcpServerForTests({
    admits: ({ headers }) => headers.authorization === undefined || headers.authorization === `Bearer ${TOKEN}`,
  });
  guarded = await authorizationServerForTests();
  service = await serviceForTests({
    AUTH_TYPE: 'session_jwt',
    ALLOWED_PRIVATE_HOSTS: [server, guarded].map(({ url }) => new URL(url).host).join(','),
  });
  [alice, bob] = await Promise.all([signedIn(), signedIn()]);
});

afterAll(async () => {
  await service.close();
  await Promise.all([server.close(), guarded.close()]);
});

async function signedIn(): Promise<Client> {
  const { token } = await new Client(service.url).json<{ token: string }>('/api/generate_token');
  return new Client(service.url, { authorization: `Bearer ${token}` });
}

const post = async (path: string, body: unknown, client = alice): Promise<Answer & { status: number; text: string }> => {
  const response = await client.post(`/api/mcp_server/${path}`, body);
  const text = await response.text();
  return { ...(JSON.parse(text) as Answer), status: response.status, text };
};
const toolOf = async (id: unknown, client = alice): Promise<Answer | undefined> =>
  (await client.json<{ tools: Answer[] }>('/api/get_tools')).tools.find((tool) => tool['id'] === id);

describe('a tool server', () => {
  it('can be tested before it is set up', async () => {
    const tried = await post('test', { config: { server_url: server.url } });
    expect(tried).toMatchObject({ status: 200, success: true });
    expect(tried['tools']).toContainEqual({ name: 'echo', description: 'Says it again.' });
    expect(tried['tools_count']).toBe((tried['tools'] as unknown[]).length);
  });

  it('that refuses the credentials is reported, with status 200 as clients expect', async () => {
    const config = { server_url: server.url, auth_type: 'bearer', bearer_token: 'wrong' };
    expect(await post('test', { config })).toMatchObject({
      status: 200,
      success: false,
      message: 'The tool server refused the credentials (401).',
    });
    expect(await post('save', { displayName: 'Wrong', config })).toMatchObject({ status: 400, success: false });
  });

  it.each(['http://169.254.169.254/latest', 'http://10.0.0.1/mcp', 'http://[::ffff:127.0.0.1]:1/mcp', 'http://2130706433:1/mcp'])(
    'at a private address gets no request: %s',
    async (serverUrl) => {
      const refused = { status: 400, success: false, message: 'Invalid server URL' };
      expect(await post('test', { config: { server_url: serverUrl } })).toMatchObject(refused);
      expect(await post('test', { config: { server_url: serverUrl, auth_type: 'oauth' } })).toMatchObject(refused);
      expect(await post('save', { displayName: 'In', config: { server_url: serverUrl } })).toMatchObject(refused);
    },
  );

  it('is set up with its tools and without showing a secret, and can be tested again with the stored secret', async () => {
    const config = { server_url: server.url, auth_type: 'bearer', bearer_token: TOKEN, redirect_uri: 'x', oauth_scopes: [] };
    const saved = await post('save', { displayName: 'Mine', config, status: true });
    expect(saved).toMatchObject({ status: 200, success: true });
    const tool = await toolOf(saved['id']);
    expect(tool).toMatchObject({ name: 'mcp_tool', displayName: 'Mine', customName: 'Mine', status: true });
    expect((tool!['actions'] as unknown[]).length).toBe(saved['tools_count']);
    expect(JSON.stringify(tool)).not.toContain(TOKEN);
    const again = { id: saved['id'], config: { server_url: server.url, auth_type: 'bearer', bearer_token: '' } };
    expect(await post('test', again)).toMatchObject({ success: true });
    const renamed = await post('save', { ...again, displayName: 'Renamed' });
    expect(renamed).toMatchObject({ status: 200, id: saved['id'] });
    expect(await toolOf(saved['id'])).toMatchObject({ displayName: 'Renamed' });
    expect(await alice.json('/api/mcp_server/auth_status')).toMatchObject({
      statuses: { [saved['id'] as string]: 'configured' },
    });
  });

  it('of another user does not exist', async () => {
    const saved = await post('save', { displayName: 'Mine', config: { server_url: server.url } });
    const body = { id: saved['id'], displayName: 'Theirs', config: { server_url: server.url } };
    expect(await post('save', body, bob)).toMatchObject({ status: 404 });
    expect(await post('test', body, bob)).toMatchObject({ status: 404 });
    expect(await bob.json('/api/mcp_server/auth_status')).toEqual({ success: true, statuses: {} });
  });
});

describe('a sign-in to a tool server', () => {
  const config = () => ({ server_url: guarded.url, auth_type: 'oauth', oauth_scopes: ['tools'] });
  const statusOf = async (taskId: string, client = alice) => client.json(`/api/mcp_server/oauth_status/${taskId}`);

  it("notifies its user's tabs of each step, and no other user", async () => {
    const [own, others] = await Promise.all([TabForTests.open(alice), TabForTests.open(bob)]);
    const asked = await post('test', { config: config() });
    expect(asked).toMatchObject({ status: 200, success: true, requires_oauth: true });
    const taskId = asked['task_id'] as string;
    await own.has((text) => text.includes('mcp.oauth.awaiting_redirect'));
    expect(await statusOf(taskId)).toMatchObject({ success: true, task_id: taskId, status: 'awaiting_redirect' });
    expect(await statusOf(taskId, bob)).toMatchObject({ success: false });

    const back = await guarded.approve(asked['authorization_url'] as string);
    expect(back.startsWith(`${service.url}/api/mcp_server/callback?`)).toBe(true);
    const page = await fetch(back);
    expect([page.status, page.headers.get('content-type'), page.headers.get('referrer-policy')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-referrer',
    ]);
    const reloaded = await fetch(back);
    expect([reloaded.status, await reloaded.text()]).toEqual([400, expect.not.stringContaining('did not succeed')]);

    await own.has((text) => text.includes('mcp.oauth.completed'));
    const told = own.events.filter(({ scope }) => scope['id'] === taskId);
    expect(told.map(({ type }) => type)).toEqual(['mcp.oauth.in_progress', 'mcp.oauth.awaiting_redirect', 'mcp.oauth.completed']);
    expect(told[1]!.payload).toMatchObject({ task_id: taskId, authorization_url: asked['authorization_url'] });
    expect(told[2]!.payload['tools_count']).toBe((told[2]!.payload['tools'] as unknown[]).length);
    expect(others.text).not.toContain(taskId);
    expect(await statusOf(taskId)).toMatchObject({ status: 'completed' });
    await Promise.all([own.close(), others.close()]);

    const saved = await post('save', { displayName: 'Signed in', config: { ...config(), oauth_task_id: taskId } });
    expect(saved).toMatchObject({ status: 200, success: true });
    const id = saved['id'] as string;
    expect(await alice.json('/api/mcp_server/auth_status')).toMatchObject({ statuses: { [id]: 'connected' } });
    const everything = own.text + JSON.stringify(await toolOf(id)) + JSON.stringify(await statusOf(taskId)) + saved.text;
    for (const secret of guarded.secrets) expect(everything).not.toContain(secret);

    const kept = await post('save', { id, displayName: 'Still signed in', config: { ...config(), oauth_task_id: '' } });
    expect(kept).toMatchObject({ status: 200, id });
    guarded.revoke();
    expect(await post('save', { id, displayName: 'Lost', config: config() })).toMatchObject({
      status: 400,
      message: 'The tool server asks for a new sign-in.',
    });
    expect(await alice.json('/api/mcp_server/auth_status')).toMatchObject({ statuses: { [id]: 'needs_auth' } });
  });

  it('that was not completed sets up no tool', async () => {
    const refused = { status: 400, success: false, error: 'oauth_not_granted' };
    expect(await post('save', { displayName: 'No', config: config() })).toMatchObject(refused);
    const { task_id: taskId } = await post('test', { config: config() });
    expect(await post('save', { displayName: 'No', config: { ...config(), oauth_task_id: taskId } })).toMatchObject(refused);
  });

  it('returns a page that repeats nothing from the request', async () => {
    const page = await fetch(`${service.url}/api/mcp_server/callback?state=<b>&code=<i>&error=<u>`);
    const text = await page.text();
    expect(page.status).toBe(400);
    for (const tag of ['<b>', '<i>', '<u>']) expect(text).not.toContain(tag);
  });

  it('requires a signed-in user', async () => {
    const stranger = new Client(service.url);
    expect((await stranger.post('/api/mcp_server/test', { config: config() })).status).toBe(401);
    expect((await stranger.get('/api/mcp_server/auth_status')).status).toBe(401);
    expect((await stranger.get('/api/mcp_server/oauth_status/x')).status).toBe(401);
  });
});
