import { createMcpHandler, type McpHttpHandler, type McpServerFactory } from '@modelcontextprotocol/server';
import { Body, Controller, HttpCode, Logger, type OnModuleDestroy, Post, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiNotAcceptableResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Ids } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { clientGone } from '../../platform/http/connections/client-gone.js';
import { DocumentedBody, OptionalHeader, type Sent, type Streamed } from '../../platform/http/documented.js';
import type { Identity } from '../../resources/identity/identity.js';
import { KeyIdentity } from '../../resources/identity/identity.http.js';
import { AgentTools } from './agent-tools.http.js';
import { McpOptions } from './mcp-options.js';

const BODY = {
  type: 'object',
  description: 'A JSON-RPC 2.0 message of the Model Context Protocol, or an array of such messages.',
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'] },
    id: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    method: { type: 'string' },
    params: { type: 'object' },
  },
  required: ['jsonrpc', 'method'],
};
/** A response to a request, or a notification that precedes it. */
type McpMessage = Readonly<{
  jsonrpc: '2.0';
  id?: string | number;
  result?: object;
  error?: Readonly<{ code: number; message: string; data?: unknown }>;
  method?: string;
  params?: object;
}>;

const EXAMPLE = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

const REFUSED = { $ref: '#/components/schemas/McpRefusal' };

const SESSION_HEADER = 'mcp-session-id';

/**
 * Who asks, and whether a tool is called. `gone` aborts when the client leaves. The library notices only clients that leave while
 * their call runs.
 */
type Served = Readonly<{ identity: Identity; isCall: boolean; gone: AbortSignal }>;

/**
 * The Model Context Protocol over streamable HTTP. The agent whose key is the bearer token is the tool server. There are no
 * sessions, so any process can answer any request.
 */
@ApiTags('MCP')
@Controller('mcp')
export class McpController implements OnModuleDestroy {
  private readonly logger = new Logger(McpController.name);
  private readonly closing = new AbortController();
  private readonly handler: McpHttpHandler;

  constructor(
    tools: AgentTools,
    private readonly options: McpOptions,
    private readonly ids: Ids,
  ) {
    const server: McpServerFactory = ({ authInfo }) => {
      const { identity, isCall, gone } = authInfo!.extra as Served;
      return tools.serverFor(identity, isCall, [gone, this.closing.signal]);
    };
    this.handler = createMcpHandler(server, {
      keepAliveMs: options.keepaliveMs,
      // Tools do not change on their own, so there is nothing to subscribe to.
      maxSubscriptions: 0,
      onerror: (error) => this.logger.debug(error.message),
    });
  }

  @ApiOperation({
    summary: 'An agent as a tool server of the Model Context Protocol (streamable HTTP)',
    description:
      'The tool `search_docs` searches the sources of the agent. `ask` asks the agent, if its `mcp_ask` is true. Listing tools needs no ' +
      'credential; a call needs the key of the agent as bearer token. An error in a call is returned as its result, with `isError`.',
  })
  @OptionalHeader('Accept', 'Mcp-Protocol-Version')
  @DocumentedBody({ schema: BODY }, EXAMPLE)
  @ApiAcceptedResponse({ description: 'The message was a notification, which has no response.' })
  @ApiNotAcceptableResponse({ description: '`Accept` does not include both JSON and event streams.', schema: REFUSED })
  @Access({ for: 'anyone', action: 'ask', of: 'answers' })
  @Post()
  @HttpCode(200)
  async serve(
    @Body() body: unknown,
    @KeyIdentity() identity: Identity,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<Sent<McpMessage | readonly McpMessage[], Streamed<McpMessage>>> {
    if (!this.options.isServed) throw new Rejection('not-found', 'Not found');
    const gone = clientGone(reply);
    const extra: Served = { identity, isCall: [body].flat().some((message) => isOf(message, 'tools/call')), gone };
    const authInfo = { token: '', clientId: identity.requestId, scopes: [], extra };
    const parsedBody = withoutCancellations(body ?? null);
    const response = await this.handler.fetch(asWebRequest(request, gone), { parsedBody, authInfo });
    // Clients of older protocol revisions may expect a session id. The service stores nothing under it.
    if (isOf(body, 'initialize') && response.ok) response.headers.set(SESSION_HEADER, this.ids.next());
    await reply.send(response);
  }

  /** Answers that are being generated continue. Only the requests that wait for them here end and have to be repeated. */
  async onModuleDestroy(): Promise<void> {
    this.closing.abort();
    await this.handler.close();
  }
}

const isOf = (message: unknown, method: string): boolean =>
  typeof message === 'object' && message !== null && 'method' in message && message.method === method;

/**
 * Each HTTP request has a separate server, so a cancellation can only mean a request of its own batch. The library would wait for
 * the response to that request for ever, and the protocol lets servers ignore cancellations.
 */
function withoutCancellations(body: unknown): unknown {
  if (!Array.isArray(body)) return body;
  const others = body.filter((message) => !isOf(message, 'notifications/cancelled'));
  return others.length > 0 ? others : body;
}

/** The request for the MCP library, without its body, which is already parsed. */
function asWebRequest({ method, headers, url, protocol, host }: FastifyRequest, signal: AbortSignal): Request {
  const known = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((each): [string, string][] => (each === undefined ? [] : [[name, each]])),
  );
  const sent = new Headers(known);
  // A client that does not say what it accepts is treated as accepting both formats.
  if (/^$|\*\/\*/.test(sent.get('accept') ?? '')) sent.set('accept', 'application/json, text/event-stream');
  return new Request(new URL(url, `${protocol}://${host || 'localhost'}`), { method, headers: sent, signal });
}
