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
  kit.tool.configure({ server_url: server.url, ...config }, secrets, 'alice');

describe('setting up a tool server', () => {
  it('takes its tools for actions, with what it says of them', async () => {
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
    ['no URL', { server_url: '' }],
    ['another protocol', { server_url: 'file:///etc/passwd' }],
    ['a password in the URL', { server_url: 'http://a:b@127.0.0.1/mcp' }],
    ['an unknown sign-in', { auth_type: 'smile' }],
    ['no time at all', { timeout: 0 }],
    ['too much time', { timeout: MCP_TIMEOUT_SECONDS_MAX + 1 }],
    ['a header that is not its own', { auth_type: 'api_key', api_key_header: 'Mcp-Session-Id' }],
    ['a sign-in without its secret', { auth_type: 'bearer' }],
  ])('refuses %s', async (_, config) => {
    await expect(configured(config)).rejects.toMatchObject({ name: 'Rejection', code: 'tool-invalid' });
    expect(server.requests).toEqual([]);
  });

  it('says so where there is none', async () => {
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

  it('says so where the list of tools has no end', async () => {
    await serving({ endless: true });
    await expect(configured()).rejects.toMatchObject({
      code: 'tool-server-unreachable',
      message: 'The tool server lists its tools without an end.',
    });
    expect(server.requests.filter(({ rpc }) => rpc === 'tools/list')).toHaveLength(MCP_LIST_PAGES_MAX);
  });

  it('refuses an address that may not be reached', async () => {
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
  ])('signs in by %s, and keeps only the secrets of that', async (type, admits, config, secrets) => {
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
  it('gives the text', async () => {
    expect(await kit.call(server, 'echo', { word: 'hello' })).toBe('You said hello.');
  });

  it('gives what is structured as it is', async () => {
    expect(await kit.call(server, 'weather')).toEqual({ celsius: 7 });
  });

  it('names what is no text', async () => {
    expect(await kit.call(server, 'picture')).toBe(
      'Here:\n[image image/png, 3 bytes, not shown]\n[resource file:///plan.pdf (The plan)]\n[resource note://1, text/plain, not shown]',
    );
  });

  it('tells an error as one', async () => {
    expect(await kit.call(server, 'fails')).toEqual({ status: 'error', error: 'It is broken.' });
  });

  it('of what is not there is refused', async () => {
    await expect(kit.call(server, 'nothing')).rejects.toMatchObject({ name: 'ToolFailed' });
  });

  it('gives nothing back of the secrets it sent', async () => {
    const settings = { auth_type: 'basic' };
    const secrets = { username: 'annabella', password: 'correct horse' };
    const seen = String(await kit.call(server, 'mirror', {}, { config: settings, secrets }));
    expect(seen).toContain('"authorization":"Basic [removed]"');
  });

  it('ends when its time is up', async () => {
    await expect(kit.call(server, 'slow', {}, { config: { timeout: 1 } })).rejects.toMatchObject({
      name: 'ToolFailed',
      message: 'The tool server did not answer in time.',
    });
    expect(server.calls.get('slow')).toBe(1);
  });

  it('tells how far it has come, without the secrets that the server was sent', async () => {
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

  it('ends when it is not wanted any more', async () => {
    const stop = new AbortController();
    const call = kit.call(server, 'slow', {}, { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('stopped')), 200);
    await expect(call).rejects.toThrow('stopped');
  });

  it('ends at once where more comes than it may bring', async () => {
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

  it('is opened anew where the server has forgotten it, and what was refused unread is sent again', async () => {
    expect(await kit.call(server, 'count')).toBe('1');
    server.forgetSessions();
    expect(await kit.call(server, 'count')).toBe('2');
    expect(server.calls.get('count')).toBe(2);
  });

  it('never sends again what may have had an effect', async () => {
    await kit.call(server, 'echo', { word: 'a' });
    server.cutOff(1);
    await expect(kit.call(server, 'count')).rejects.toMatchObject({ name: 'ToolFailed' });
    expect(server.calls.get('count')).toBe(1);
    expect(await kit.call(server, 'count')).toBe('2');
  });

  it('sends a read again once', async () => {
    server.cutOff(1);
    expect(await kit.call(server, 'echo', { word: 'a' })).toBe('You said a.');
    server.cutOff(2);
    await expect(kit.call(server, 'echo', { word: 'b' })).rejects.toMatchObject({ name: 'ToolFailed' });
    expect(server.calls.get('echo')).toBe(4);
  });

  it('ends with the service, and the server is told', async () => {
    await kit.call(server, 'echo', { word: 'a' });
    await kit.close();
    expect(server.sessions()).toBe(0);
  });

  it('ends after a while without a call, and the next call opens another', async () => {
    await kit.close();
    kit = mcpToolForTests({ sessionsMax: 5, idleMs: 50 });
    await kit.call(server, 'echo', { word: 'a' });
    await eventually(() => server.sessions() === 0);
    expect(await kit.call(server, 'echo', { word: 'b' })).toBe('You said b.');
  });

  it('makes room for another when there are too many, unless all are at work', async () => {
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
