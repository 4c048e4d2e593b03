import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

export type McpServerOptions = Readonly<{
  /** Whether a request is admitted. By default all are. */
  admits?: (request: IncomingMessage) => boolean;
  /** Lists its tools in endless pages. */
  endless?: boolean;
  /** The `WWW-Authenticate` header of a refused request. */
  challenge?: string;
  /** Handles paths other than the tool server's. Returns false for an unknown path. */
  beside?: (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean;
}>;

/** A tool server built with the official SDK, on its own port. */
export type McpServerForTests = Readonly<{
  url: string;
  /** The number of calls per tool, for the tools that count them. */
  calls: Map<string, number>;
  /** The requests to the tool server, newest last. */
  requests: { method: string; headers: IncomingMessage['headers']; rpc: string | undefined }[];
  /** The number of open sessions. */
  sessions(): number;
  /** Drops all sessions without notifying clients, like a restart. */
  forgetSessions(): void;
  /** Cuts the connection of the next `calls` tool calls after they ran, before the response. */
  cutOff(calls: number): void;
  close(): Promise<void>;
}>;

const object = (properties: Record<string, object>, required: string[] = []) =>
  fromJsonSchema<Record<string, string>>({ type: 'object', properties, required });

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

function tools(calls: Map<string, number>): McpServer {
  const server = new McpServer({ name: 'test', version: '1' });
  const counted = (name: string): number => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    return calls.get(name)!;
  };
  const word = object({ word: { type: 'string', description: 'A word.' } }, ['word']);
  const nothing = object({});
  const place = object({
    city: { type: ['string', 'null'] },
    area: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
  });
  server.registerTool(
    'echo',
    { description: 'Says it again.', inputSchema: word, annotations: { readOnlyHint: true, idempotentHint: true } },
    ({ word: said }) => (counted('echo'), text(`You said ${said}.`)),
  );
  server.registerTool(
    'count',
    { description: 'Counts.', inputSchema: nothing, annotations: { destructiveHint: true, readOnlyHint: false } },
    () => text(String(counted('count'))),
  );
  server.registerTool('weather', { description: 'Measured.', inputSchema: place }, () => ({
    ...text('{"celsius":7}'),
    structuredContent: { celsius: 7 },
  }));
  server.registerTool('picture', { description: 'Drawn.', inputSchema: nothing }, () => ({
    content: [
      { type: 'text', text: 'Here:' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'resource_link', uri: 'file:///plan.pdf', name: 'The plan' },
      { type: 'resource', resource: { uri: 'note://1', mimeType: 'image/gif', blob: 'AAEC' } },
    ],
  }));
  server.registerTool('fails', { description: 'Fails.', inputSchema: nothing }, () => ({
    ...text('It is broken.'),
    isError: true,
  }));
  server.registerTool('slow', { description: 'Takes its time.', inputSchema: nothing }, async (_, context) => {
    counted('slow');
    await pause(60_000, undefined, { signal: context.mcpReq.signal }).catch(() => undefined);
    return text('At last.');
  });
  server.registerTool('tells', { description: 'Tells how far it is.', inputSchema: nothing }, async (_, context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    const secret = String(context.http?.req?.headers.get('authorization'));
    for (const progress of progressToken === undefined ? [] : [1, 2]) {
      const params = { progressToken, progress, total: 3, message: `Step ${progress} as ${secret}.` };
      await context.mcpReq.notify({ method: 'notifications/progress', params });
    }
    counted('tells');
    await pause(60_000, undefined, { signal: context.mcpReq.signal }).catch(() => undefined);
    return text('Told.');
  });
  server.registerTool('huge', { description: 'Says much.', inputSchema: nothing }, () => text('x'.repeat(4 * 1024 * 1024)));
  server.registerTool('long', { description: 'Says too much.', inputSchema: nothing }, () => text('x'.repeat(512 * 1024)));
  server.registerTool('mirror', { description: 'Shows the caller.', inputSchema: nothing }, (_, context) =>
    text(JSON.stringify(Object.fromEntries(context.http?.req?.headers ?? []))),
  );
  return server;
}

export async function mcpServerForTests(options: McpServerOptions = {}): Promise<McpServerForTests> {
  const calls = new Map<string, number>();
  const requests: McpServerForTests['requests'] = [];
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  let toCutOff = 0;

  const opened = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await tools(calls).connect(transport);
    return transport;
  };

  const served = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const message = (body === '' ? undefined : JSON.parse(body)) as { method?: string } | undefined;
    requests.push({ method: request.method!, headers: request.headers, rpc: message?.method });
    if (options.admits && !options.admits(request)) {
      response.writeHead(401, { 'www-authenticate': options.challenge ?? 'Bearer' }).end('Who is there?');
      return;
    }
    const id = request.headers['mcp-session-id'] as string | undefined;
    const known = id === undefined ? await opened() : sessions.get(id);
    if (!known) return void response.writeHead(404).end('Session not found');
    if (message?.method === 'tools/call' && toCutOff > 0) {
      toCutOff -= 1;
      response.write = () => (request.socket.destroy(), false);
      response.end = () => (request.socket.destroy(), response);
    }
    if (options.endless && message?.method === 'tools/list') {
      const { id: rpcId } = message as { id?: number };
      const page = { jsonrpc: '2.0', id: rpcId, result: { tools: [], nextCursor: randomUUID() } };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
    }
    await known.handleRequest(request, response, message);
  };

  const http: Server = createServer((request, response) => {
    const isHere = request.url?.split('?')[0] === '/mcp';
    const answered = isHere
      ? served(request, response).then(() => true)
      : Promise.resolve(options.beside?.(request, response) ?? false);
    answered.then(
      (done) => done || response.writeHead(404).end(),
      (error: unknown) => response.headersSent || response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    calls,
    requests,
    sessions: () => sessions.size,
    forgetSessions: () => sessions.clear(),
    cutOff: (number) => void (toCutOff = number),
    close: async () => {
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
