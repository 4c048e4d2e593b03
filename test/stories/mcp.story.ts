import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CallToolResult, Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { answerJson, LocalServer } from '../support/local-server.js';
import { call, refuse, say, until } from '../support/scripted-model-server.js';
import { eventually } from '../support/eventually.js';
import { addedSource } from '../support/sources.js';
import { replyOf, type World } from '../support/world.js';

/** Agents' owners and two processes, or the same one twice, to which clients send requests in turn. */
export type McpWorlds = Readonly<{ first: World; second: World; close(): Promise<void> }>;

export const MCP_SETTINGS = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1' };

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const textsOf = ({ content }: CallToolResult) => content.map((block) => (block.type === 'text' ? block.text : block.type));

/** The official client of the Model Context Protocol with agents: what it finds, calls, and is refused. */
export function mcpStory(open: () => Promise<McpWorlds>): void {
  let worlds: McpWorlds;
  let world: World;
  let post: LocalServer;
  let agent: Readonly<{ id: string; key: string }>;
  let asked: Readonly<{ id: string; key: string }>;
  const clients: McpClient[] = [];

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, { posted: post.requests.length }));
    worlds = await open();
    world = worlds.first;
    const source = await addedSource(world.alice, 'Handbook', '# Tea\n\nTea is at four.');
    agent = await world.agent({ source });
    asked = await world.agent({ source, mcp_ask: true });
  });
  afterAll(async () => {
    await worlds.close();
    await post.close();
  });
  beforeEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    world.model.reset();
  });

  /** A client of the newest revision, or of older ones with sessions. Every other request goes to the second process. */
  async function clientOf(
    key?: string,
    { path = '/mcp', mode = 'auto' }: Readonly<{ path?: string; mode?: 'auto' | 'legacy' }> = {},
  ): Promise<McpClient> {
    let requests = 0;
    const transport = new StreamableHTTPClientTransport(new URL(path, world.service.url), {
      requestInit: { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } },
      fetch: (url, init) => {
        const { url: origin } = [worlds.first, worlds.second][requests++ % 2]!.service;
        return fetch(new URL(new URL(String(url)).pathname, origin), init);
      },
    });
    const client = new McpClient({ name: 'story', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(transport);
    clients.push(client);
    return client;
  }
  const called = (client: McpClient, name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  const rpc = (body: unknown, headers: Readonly<Record<string, string>> = {}, path = '/mcp') =>
    world.nobody.request(path, { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify(body) });

  describe.each(['auto', 'legacy'] as const)('a client (%s)', (mode) => {
    it('needs no key to initialise and to list the tools', async () => {
      const client = await clientOf(undefined, { mode });
      expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: false } });
      const { tools } = await client.listTools();
      expect(tools).toMatchObject([
        {
          name: 'search_docs',
          inputSchema: {
            required: ['query'],
            properties: { query: { type: 'string' }, chunks: { type: 'integer', default: 5 } },
          },
        },
      ]);
    });

    it.each(['/mcp', '/mcp/'])('searches the sources of the agent at %s', async (path) => {
      const result = await called(await clientOf(agent.key, { mode, path }), 'search_docs', { query: 'tea' });
      const found = {
        result: [{ text: expect.stringContaining('Tea is at four.'), title: expect.any(String), source: 'Handbook' }],
      };
      expect(result.structuredContent).toEqual(found);
      expect(JSON.parse(textsOf(result)[0]!)).toEqual((result.structuredContent as { result: unknown }).result);
    });

    it('gets an error about its key when it calls a tool', async () => {
      expect(await called(await clientOf(undefined, { mode }), 'search_docs', { query: 'tea' })).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: 'Missing Bearer token' }],
      });
      const invalid = { isError: true, content: [{ type: 'text', text: 'Invalid API key' }] };
      expect(await called(await clientOf('wrong', { mode }), 'search_docs', { query: 'tea' })).toMatchObject(invalid);
      expect(await called(await clientOf('wrong', { mode }), 'ask', { question: 'When is tea?' })).toMatchObject(invalid);
    });

    it('asks an agent that allows it, and continues the conversation', async () => {
      const client = await clientOf(asked.key, { mode });
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search_docs', 'ask']);
      world.model.next(say('At ', 'four.'), say('I said: at four.'));
      const { content, structuredContent } = await called(client, 'ask', { question: 'When is tea?' });
      const { conversation_id } = structuredContent as { conversation_id: string };
      expect(structuredContent).toEqual({
        answer: 'At four.',
        conversation_id,
        sources: [expect.objectContaining({ source: 'Handbook' })],
      });
      expect(content).toMatchObject([{ text: 'At four.' }, { text: JSON.stringify({ conversation_id }) }]);
      const again = await called(client, 'ask', { question: 'When?', conversation_id });
      expect(again.structuredContent).toMatchObject({ answer: 'I said: at four.', conversation_id });
    });
  });

  it('finds nothing if an agent has no source, or if no chunks are requested', async () => {
    const bare = await clientOf((await world.agent()).key);
    expect((await called(bare, 'search_docs', { query: 'tea' })).structuredContent).toEqual({ result: [] });
    const client = await clientOf(agent.key);
    expect((await called(client, 'search_docs', { query: 'tea', chunks: 0 })).structuredContent).toEqual({ result: [] });
    expect(await called(client, 'search_docs', { query: 7 })).toMatchObject({ isError: true });
  });

  it('finds only what the agent’s guardrails permit', async () => {
    const secret = `AKIA${'EFGH'.repeat(4)}`;
    const source = await addedSource(world.alice, 'Codes', `# Codes\n\nThe code of the barn is ${secret}.`);
    const controls = [{ check: 'secrets', stage: 'retrieval', action: 'redact' }];
    const { key } = await world.agent({ source, config: { guardrails: { enabled: true, mode: 'scan_all', controls } } });
    const found = JSON.stringify(await called(await clientOf(key), 'search_docs', { query: 'the code of the barn' }));
    expect([found.includes('The code of the barn'), found.includes(secret)]).toEqual([true, false]);
  });

  it('has no ask tool for an agent that does not allow it', async () => {
    const client = await clientOf(agent.key);
    await expect(called(client, 'ask', { question: 'When?' })).rejects.toThrow(/ask/);
    await world.alice.put(`/api/update_agent/${agent.id}`, { mcp_ask: true });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search_docs', 'ask']);
    await world.alice.put(`/api/update_agent/${agent.id}`, { config: {}, mcp_ask: false });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search_docs']);
  });

  it('receives the progress of an answer', async () => {
    world.model.next(say('At four.'));
    const heard: number[] = [];
    const client = await clientOf(asked.key);
    const onprogress = ({ progress }: { progress: number }) => void heard.push(progress);
    await client.callTool({ name: 'ask', arguments: { question: 'When?' } }, { onprogress });
    expect(heard[0]).toBe(1);
  });

  it('gets a failure as the result of the call', async () => {
    const client = await clientOf(asked.key);
    world.model.next([refuse(400)]);
    expect(await called(client, 'ask', { question: 'When?' })).toMatchObject({ isError: true, content: [{ type: 'text' }] });
    const unknown = { question: 'When?', conversation_id: '00000000-0000-4000-8000-000000000000' };
    expect(await called(client, 'ask', unknown)).toMatchObject({ isError: true, content: [{ text: 'Conversation not found' }] });
    expect(await called(client, 'ask', { question: ' ' })).toMatchObject({ isError: true });
  });

  it('gets an answer without calls that require approval', async () => {
    const look = { name: 'look', method: 'GET', url: `${post.url}/look`, description: 'Looks', active: true };
    const config = { actions: { look: { ...look, require_approval: true } } };
    const tool = { name: 'api_tool', displayName: 'Shop', description: 'Looks', config, status: true };
    const { id } = (await (await world.alice.post('/api/create_tool', tool)).json()) as { id: string };
    const { key } = await world.agent({ tools: [id], mcp_ask: true });
    world.model.next([call('c1', 'look', {})], say('Not seen.'));
    const result = await called(await clientOf(key), 'ask', { question: 'What is there?' });
    expect(result.structuredContent).toMatchObject({ answer: 'Not seen.' });
    expect(post.requests).toEqual([]);
  });

  it('is disconnected silently when the key ends', async () => {
    const { id, key } = await world.agent({ mcp_ask: true });
    const client = await clientOf(key);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    world.model.next([until(released), ...say('Too late.')]);
    const asking = called(client, 'ask', { question: 'When?' });
    const outcome = expect(asking).rejects.toThrow();
    await eventually(async () => world.model.completions.length === 1);
    await world.alice.post(`/api/regenerate_agent_key/${id}`, {});
    await outcome;
    release();
  });

  it('lets pages of other origins read and send the protocol’s headers', async () => {
    const preflight = await world.nobody.request('/mcp', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers':
          'mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, authorization, content-type',
      },
    });
    const allowed = preflight.headers.get('access-control-allow-headers')!.toLowerCase();
    for (const name of ['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'authorization', 'content-type'])
      expect(allowed).toContain(name);
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'page', version: '1' } },
    };
    const begun = await rpc(initialize, { origin: 'https://page.example' });
    expect(begun.status).toBe(200);
    expect(begun.headers.get('mcp-session-id')).toBeTruthy();
    expect(begun.headers.get('access-control-expose-headers')!.toLowerCase()).toContain('mcp-session-id');
    expect(begun.headers.get('access-control-allow-origin')).toBe('*');
    await begun.body?.cancel();
  });

  it('is refused in the format of JSON-RPC', async () => {
    const refused = async (init: Parameters<typeof world.nobody.request>[1]) => {
      const { status, body } = await replyOf(world.nobody.request('/mcp', init));
      return [status, body];
    };
    const error = (code: number) => ({ jsonrpc: '2.0', id: null, error: expect.objectContaining({ code }) });
    expect(await refused({ method: 'POST', headers: HEADERS, body: '{' })).toEqual([400, error(-32700)]);
    expect(await refused({ method: 'GET', headers: HEADERS })).toEqual([405, error(-32000)]);
    expect(await refused({ method: 'DELETE' })).toEqual([405, error(-32000)]);
    expect(await refused({ method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'hello' })).toEqual([
      415,
      error(-32000),
    ]);
    expect((await refused({ method: 'POST', headers: HEADERS }))[0]).toBe(400);
    const fraction = await replyOf(rpc({ jsonrpc: '2.0', id: 0.5, method: 'tools/list', params: {} }));
    expect([fraction.status, JSON.parse(fraction.text)]).toEqual([400, { ...error(-32600), id: 0.5 }]);
    expect((await replyOf(rpc({ jsonrpc: '2.0', id: 1, method: 'nonsense', params: {} }))).text).toContain('-32601');
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    expect((await replyOf(rpc(list, { accept: '*/*' }))).text).toContain('search_docs');
    expect((await replyOf(rpc(list, { accept: 'text/html' }))).status).toBe(406);
    const unknown = await replyOf(rpc(list, { 'mcp-protocol-version': 'unknown' }));
    expect([unknown.status, JSON.parse(unknown.text)]).toEqual([400, expect.objectContaining({ id: 1 })]);
  });
}
