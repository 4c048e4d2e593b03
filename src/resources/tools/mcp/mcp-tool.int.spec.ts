import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { mcpServerForTests, type McpServerForTests, type McpServerOptions } from '../../../../test/support/mcp-server.js';
import { mcpToolForTests, type McpToolForTests } from '../../../../test/support/mcp-tool.js';
import { MCP_TIMEOUT_SECONDS_MAX } from './mcp-config.policy.js';
import { MCP_LIST_PAGES_MAX } from './mcp-session.js';
import { eventually } from '../../../../test/support/eventually.js';
import type { ToolReport } from '../toolbox/tool-kind.port.js';

let server: McpServerForTests;
let kit: McpToolForTests;

const serving = async (options: McpServerOptions = {}): Promise<void> => {
  await server.close();
  server = await mcpServerForTests(options);
};

beforeEach(async () => {
  server = await mcpServerForTests();
  kit = mcpToolForTests();
});
afterEach(async () => {
  await kit.close();
  await server.close();
});

const configured = (config: Record<string, unknown> = {}, secrets: Record<string, string> = {}) =>
  kit.tool.configure({ server_url: server.url, ...config }, secrets, 'alice', kit.cause);

describe('setting up a tool server', () => {
  it('turns the tools of the server into actions with their descriptions and hints', async () => {
    const { actions, config } = await configured({ unknown: 'field' });
    expect(actions!.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['echo', 'count', 'weather', 'picture', 'fails', 'slow', 'huge', 'mirror']),
    );
    expect(actions!.find(({ name }) => name === 'echo')).toMatchObject({
      description: 'Says it again.',
      active: true,
      annotations: { readOnlyHint: true, idempotentHint: true },
      parameters: {
        type: 'object',
        required: ['word'],
        properties: { word: { type: 'string', description: 'A word.', filled_by_llm: true, value: '' } },
      },
    });
    expect(actions!.find(({ name }) => name === 'count')!.annotations).toEqual({ readOnlyHint: false, destructiveHint: true });
    expect(config).toEqual({ server_url: server.url, auth_type: 'none', timeout: 30 });
  });

  it.each([
    ['a missing URL', { server_url: '' }],
    ['another protocol', { server_url: 'file:///etc/passwd' }],
    ['a password in the URL', { server_url: 'http://a:b@127.0.0.1/mcp' }],
    ['an unknown sign-in', { auth_type: 'smile' }],
    ['a timeout of zero', { timeout: 0 }],
    ['a timeout above the maximum', { timeout: MCP_TIMEOUT_SECONDS_MAX + 1 }],
    ['a header of the protocol', { auth_type: 'api_key', api_key_header: 'Mcp-Session-Id' }],
    ['a sign-in without its secret', { auth_type: 'bearer' }],
  ])('refuses %s', async (_, config) => {
    await expect(configured(config)).rejects.toMatchObject({ name: 'Rejection', code: 'tool-invalid' });
    expect(server.requests).toEqual([]);
  });

  it('reports that there is no tool server', async () => {
    await expect(configured({ server_url: server.url.replace('/mcp', '/elsewhere') })).rejects.toMatchObject({
      code: 'tool-server-unreachable',
      message: 'There is no tool server at this address (404).',
    });
    await server.close();
    await expect(configured()).rejects.toMatchObject({
      code: 'tool-server-unreachable',
      message: 'The tool server could not be reached, or the connection to it broke.',
    });
  });

  it('reports that the list of tools does not end', async () => {
    await serving({ endless: true });
    await expect(configured()).rejects.toMatchObject({
      code: 'tool-server-unreachable',
      message: 'The list of tools of the tool server does not end.',
    });
    expect(server.requests.filter(({ rpc }) => rpc === 'tools/list')).toHaveLength(MCP_LIST_PAGES_MAX);
  });

  it('refuses an address that is not allowed', async () => {
    kit.refuseAddresses();
    await expect(configured()).rejects.toMatchObject({ code: 'tool-server-refused', message: 'Invalid server URL' });
  });

  const sent = (request: IncomingMessage) => request.headers;
  it.each<[string, McpServerOptions['admits'], Record<string, unknown>, Record<string, string>]>([
    ['bearer', (request) => sent(request).authorization === 'Bearer let me in', {}, { bearer_token: 'let me in' }],
    ['api_key', (request) => sent(request)['x-shop'] === 'k-123', { api_key_header: 'X-Shop' }, { api_key: 'k-123' }],
    [
      'basic',
      (request) => sent(request).authorization === `Basic ${Buffer.from('ann:pässword').toString('base64')}`,
      {},
      { username: 'ann', password: 'pässword' },
    ],
  ])('signs in by %s, and stores only the secrets of this sign-in', async (type, admits, config, secrets) => {
    await serving({ admits: admits! });
    const before = { ...secrets, stale: 'secret' };
    const { secrets: kept, config: shown } = await configured({ auth_type: type, ...config }, before);
    expect(kept).toEqual(secrets);
    for (const secret of Object.values(secrets)) expect(JSON.stringify(shown)).not.toContain(secret);
    await expect(configured()).rejects.toMatchObject({
      code: 'tool-server-unreachable',
      message: 'The tool server refused the credentials (401).',
    });
  });
});

describe('a call', () => {
  it('returns text', async () => {
    expect(await kit.call(server, 'echo', { word: 'hello' })).toBe('You said hello.');
  });

  it('returns structured content unchanged', async () => {
    expect(await kit.call(server, 'weather')).toEqual({ celsius: 7 });
  });

  it('names content that is not text', async () => {
    expect(await kit.call(server, 'picture')).toBe(
      'Here:\n[image image/png, 3 bytes, not shown]\n[resource file:///plan.pdf (The plan)]\n[resource note://1, image/gif, not shown]',
    );
  });

  it('returns an error of the tool as an error', async () => {
    expect(await kit.call(server, 'fails')).toEqual({ status: 'error', error: 'It is broken.' });
  });

  it('of an unknown tool is refused', async () => {
    await expect(kit.call(server, 'nothing')).rejects.toMatchObject({ name: 'ToolFailed' });
  });

  it('returns none of the secrets that it sent', async () => {
    const settings = { auth_type: 'basic' };
    const secrets = { username: 'annabella', password: 'correct horse' };
    const seen = String(await kit.call(server, 'mirror', {}, { config: settings, secrets }));
    expect(seen).toContain('"authorization":"Basic [removed]"');
  });

  it('ends when its time limit is over', async () => {
    await expect(kit.call(server, 'slow', {}, { config: { timeout: 1 } })).rejects.toMatchObject({
      name: 'ToolFailed',
      message: 'The tool server did not answer in time.',
    });
    expect(server.calls.get('slow')).toBe(1);
  });

  it('reports its progress, without the secrets that the server received', async () => {
    const stop = new AbortController();
    const reports: ToolReport[] = [];
    const sent = { config: { auth_type: 'bearer' }, secrets: { bearer_token: 'a token of mine' } };
    const call = kit.call(server, 'tells', {}, { ...sent, signal: stop.signal, report: (said) => void reports.push(said) });
    await eventually(() => reports.length === 2);
    stop.abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
    expect(reports).toEqual([
      { progress: 1, total: 3, message: expect.stringMatching(/^Step 1 as /) },
      { progress: 2, total: 3, message: expect.stringMatching(/^Step 2 as /) },
    ]);
    expect(JSON.stringify(reports)).not.toContain('a token of mine');
  });

  it('ends when it is aborted', async () => {
    const stop = new AbortController();
    const call = kit.call(server, 'slow', {}, { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('stopped')), 200);
    await expect(call).rejects.toThrow('stopped');
  });

  it('ends at once when the response exceeds the maximum size', async () => {
    await expect(kit.call(server, 'huge')).rejects.toMatchObject({
      name: 'ToolFailed',
      message: 'The answer of the tool server is too large.',
    });
    await expect(kit.call(server, 'long')).rejects.toMatchObject({ name: 'ToolFailed' });
  });
});

describe('a session', () => {
  it('is kept for the next call of the same tool with the same credentials', async () => {
    await kit.call(server, 'echo', { word: 'a' });
    await kit.call(server, 'echo', { word: 'b' });
    expect(server.sessions()).toBe(1);
    await kit.call(server, 'echo', { word: 'c' }, { secrets: { bearer_token: 'other' }, config: { auth_type: 'bearer' } });
    await kit.call(server, 'echo', { word: 'd' }, { toolId: 't2' });
    expect(server.sessions()).toBe(3);
  });

  it('is replaced when the server has forgotten it, and the unprocessed call is sent again', async () => {
    expect(await kit.call(server, 'count')).toBe('1');
    server.forgetSessions();
    expect(await kit.call(server, 'count')).toBe('2');
    expect(server.calls.get('count')).toBe(2);
  });

  it('never repeats a call that may have had an effect', async () => {
    await kit.call(server, 'echo', { word: 'a' });
    server.cutOff(1);
    await expect(kit.call(server, 'count')).rejects.toMatchObject({ name: 'ToolFailed' });
    expect(server.calls.get('count')).toBe(1);
    expect(await kit.call(server, 'count')).toBe('2');
  });

  it('repeats a reading call once', async () => {
    server.cutOff(1);
    expect(await kit.call(server, 'echo', { word: 'a' })).toBe('You said a.');
    server.cutOff(2);
    await expect(kit.call(server, 'echo', { word: 'b' })).rejects.toMatchObject({ name: 'ToolFailed' });
    expect(server.calls.get('echo')).toBe(4);
  });

  it('ends with the service, which tells the server', async () => {
    await kit.call(server, 'echo', { word: 'a' });
    await kit.close();
    expect(server.sessions()).toBe(0);
  });

  it('ends after the idle time, and the next call opens another', async () => {
    await kit.close();
    kit = mcpToolForTests({ sessionsMax: 5, idleMs: 50 });
    await kit.call(server, 'echo', { word: 'a' });
    await eventually(() => server.sessions() === 0);
    expect(await kit.call(server, 'echo', { word: 'b' })).toBe('You said b.');
  });

  it('is closed to make room for another, unless all sessions are in use', async () => {
    await kit.close();
    kit = mcpToolForTests({ sessionsMax: 1, idleMs: 60_000 });
    await kit.call(server, 'echo', { word: 'a' });
    await kit.call(server, 'echo', { word: 'b' }, { toolId: 't2' });
    expect(kit.sessions.size).toBe(1);
    await eventually(() => server.sessions() === 1);
    const stop = new AbortController();
    const slow = kit.call(server, 'slow', {}, { toolId: 't2', signal: stop.signal });
    await eventually(() => server.calls.get('slow') === 1);
    await expect(kit.call(server, 'echo', { word: 'c' })).rejects.toMatchObject({
      name: 'ToolFailed',
      message: 'Too many tool servers are in use right now.',
    });
    stop.abort(new Error('stopped'));
    await expect(slow).rejects.toThrow('stopped');
  });
});
