import { describe, expect, it } from '@jest/globals';
import { McpSession } from './mcp-session.js';

type Message = Readonly<{ id?: unknown; method: string }>;
type Reply = Readonly<{ result: object } | { error: object }>;

const cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' } as const;
const work = { timeoutMs: 10_000, cause };

/** A session with a server of the protocol version 2026-07-28. `replyTo` answers all requests but the first. */
const modern = (replyTo: (message: Message) => Reply): Promise<McpSession> => {
  const found = {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    serverInfo: { name: 'x', version: '1' },
    ttlMs: 60_000,
    cacheScope: 'private',
  };
  const fetch = async (_: unknown, init?: RequestInit) => {
    const message = JSON.parse(init!.body as string) as Message;
    const reply = message.method === 'server/discover' ? { result: { resultType: 'complete', ...found } } : replyTo(message);
    const status = 'error' in reply ? 400 : 200;
    return Response.json({ jsonrpc: '2.0', id: message.id, ...reply }, { status });
  };
  const server = { url: 'https://tools.example/mcp', headers: {}, timeoutMs: 10_000 };
  return McpSession.open(server, fetch, work);
};

describe('a call', () => {
  it('does not run the output schema of the server, whose patterns may take for ever', async () => {
    const outputSchema = { type: 'object', properties: { word: { type: 'string', pattern: '^(a+)+$' } } };
    const tools = [{ name: 'echo', inputSchema: { type: 'object', properties: {} }, outputSchema }];
    let calls = 0;
    const session = await modern(({ method }) => {
      const listed = { resultType: 'complete', tools, ttlMs: 60_000, cacheScope: 'private' };
      if (method === 'tools/list') return { result: listed };
      if (calls++ === 0) return { error: { code: -32020, message: 'Header mismatch', data: {} } };
      return { result: { resultType: 'complete', content: [], structuredContent: { word: 'b' } } };
    });
    const answer = await session.call({ name: 'echo', arguments: {} }, work);
    expect(answer.structuredContent).toEqual({ word: 'b' });
    expect(calls).toBe(2);
    await session.end();
  });
});
