import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type CallScope, currentScope, inScope } from './call-scope.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { ListedTool } from './mcp-actions.policy.js';
import type { CallAnswer } from './mcp-answer.policy.js';
import { mcpFetch } from './mcp-fetch.js';
import type { ToolReport } from '../toolbox/tool-kind.port.js';

export const MCP_LIST_PAGES_MAX = 20;

/** How long a server may take to say that a session has ended, on which nothing depends. */
const GOODBYE_MS_MAX = 2_000;

/** A bearer token that is renewed; `undefined` stands for none. */
export type TokenSource = Readonly<{
  token(cause: Cause): Promise<string>;
  /** What to use instead of a token that was refused. @throws SignInNeeded */
  renewed(refused: string, cause: Cause): Promise<string>;
}>;

/** A server as it is connected to. */
export type McpServer = Readonly<{
  url: string;
  headers: Readonly<Record<string, string>>;
  tokens?: TokenSource | undefined;
  timeoutMs: number;
}>;

/** For one piece of work: how long, until when, because of what, and who wants to know how far it has come. */
export type Work = Readonly<{
  timeoutMs: number;
  signal?: AbortSignal;
  cause: Cause;
  report?: (report: ToolReport) => void;
}>;

export type ToolCall = Readonly<{ name: string; arguments: Record<string, unknown> }>;

/** A conversation with a tool server. What fails on it throws as the client does; the caller decides whether to go on with another. */
export class McpSession {
  private constructor(
    private readonly client: Client,
    private readonly transport: StreamableHTTPClientTransport,
  ) {}

  static async open(server: McpServer, fetch: typeof globalThis.fetch, work: Work): Promise<McpSession> {
    const { url, headers, tokens } = server;
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      fetch: mcpFetch(fetch),
      requestInit: { headers: { ...headers } },
      ...(tokens && { authProvider: authOf(tokens) }),
      onInsufficientScope: 'throw',
    });
    const client = new Client(
      { name: 'verbatim', version: '1.0.0' },
      // Servers of either generation are talked to; none of them gets to ask the user or the model anything.
      {
        capabilities: {},
        versionNegotiation: { mode: 'auto' },
        inputRequired: { autoFulfill: false },
        listMaxPages: MCP_LIST_PAGES_MAX,
      },
    );
    const session = new McpSession(client, transport);
    try {
      await within(work, (options) => client.connect(transport, options));
    } catch (error) {
      await client.close().catch(() => undefined);
      throw error;
    }
    return session;
  }

  async tools(work: Work): Promise<readonly ListedTool[]> {
    const { tools } = await within(work, (options) => this.client.listTools(undefined, options));
    return tools;
  }

  async call(call: ToolCall, work: Work): Promise<CallAnswer> {
    const { report } = work;
    return within(work, (options) => this.client.callTool(call, { ...options, ...(report && { onprogress: report }) }));
  }

  /** The server is told, and not waited for longer than a moment. */
  async end(): Promise<void> {
    const goodbye = this.transport.terminateSession().catch(() => undefined);
    const late = new Promise<void>((resolve) => setTimeout(resolve, GOODBYE_MS_MAX).unref());
    await Promise.race([goodbye, late]);
    await this.client.close().catch(() => undefined);
  }
}

type CallOptions = { signal: AbortSignal; timeout: number; onresumptiontoken: () => void };

/** Does the work until it is done, over, or not worth waiting for any longer. */
async function within<T>({ timeoutMs, signal, cause }: Work, work: (options: CallOptions) => Promise<T>): Promise<T> {
  const end = new AbortController();
  let resumable = false;
  const scope: CallScope = { cause, giveUp: (reason) => end.abort(reason), isResumable: () => resumable };
  signal?.throwIfAborted();
  const options = {
    signal: signal ? AbortSignal.any([signal, end.signal]) : end.signal,
    timeout: timeoutMs,
    onresumptiontoken: () => (resumable = true),
  };
  try {
    return await inScope(scope, () => work(options as CallOptions));
  } catch (error) {
    // The client turns whatever aborted it into an error of its own.
    if (signal?.aborted) throw signal.reason;
    if (end.signal.aborted) throw end.signal.reason;
    throw error;
  }
}

function authOf(tokens: TokenSource) {
  let inUse = '';
  const cause = (): Cause => {
    const scope = currentScope();
    if (!scope) throw new Error('A request of a session belongs to no work.');
    return scope.cause;
  };
  return {
    token: async () => (inUse ||= await tokens.token(cause())),
    onUnauthorized: async () => {
      inUse = await tokens.renewed(inUse, cause());
    },
  };
}
