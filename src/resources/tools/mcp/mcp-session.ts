import { Client, type jsonSchemaValidator, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type CallScope, callScopes } from './call-scope.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { ListedTool } from './mcp-actions.policy.js';
import type { CallAnswer } from './mcp-answer.policy.js';
import { mcpFetch } from './mcp-fetch.js';
import type { ToolReport } from '../toolbox/tool-kind.port.js';

export const MCP_LIST_PAGES_MAX = 20;

/** The time limit for telling a server that a session has ended. */
const GOODBYE_MS_MAX = 2_000;

/** Accepts every structured content: a pattern in the output schema of a server may take longer than the process lives. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator: () => (content) => ({ valid: true, data: content as never, errorMessage: undefined }),
};

/** A source of bearer tokens. */
export type TokenSource = Readonly<{
  token(cause: Cause): Promise<string>;
  /** The token to use after a token was refused. @throws SignInNeeded */
  renewed(refused: string, cause: Cause): Promise<string>;
}>;

/** The address and credentials of a server. */
export type McpServer = Readonly<{
  url: string;
  headers: Readonly<Record<string, string>>;
  tokens?: TokenSource | undefined;
  timeoutMs: number;
}>;

/** The limits and the cause of a piece of work, and the functions that get its progress and the tokens that it sends. */
export type Work = Readonly<{
  timeoutMs: number;
  signal?: AbortSignal;
  cause: Cause;
  report?: (report: ToolReport) => void;
  sends?: (token: string) => void;
}>;

export type ToolCall = Readonly<{ name: string; arguments: Record<string, unknown> }>;

/**
 * A session with a tool server. Its methods throw the errors of the client; the caller decides whether to try again with another
 * session.
 */
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
      // The client supports servers of both protocol versions. They may not send requests to the user or the model.
      {
        capabilities: {},
        versionNegotiation: { mode: 'auto' },
        inputRequired: { autoFulfill: false },
        listMaxPages: MCP_LIST_PAGES_MAX,
        jsonSchemaValidator: UNCHECKED,
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

  /** Tells the server that the session ends, and waits only briefly for the response. */
  async end(): Promise<void> {
    const goodbye = this.transport.terminateSession().catch(() => undefined);
    const late = new Promise<void>((resolve) => setTimeout(resolve, GOODBYE_MS_MAX).unref());
    await Promise.race([goodbye, late]);
    await this.client.close().catch(() => undefined);
  }
}

type CallOptions = { signal: AbortSignal; timeout: number; onresumptiontoken: () => void };

/** Runs the work until it ends, its time limit is over, it is aborted or it is given up. */
async function within<T>({ timeoutMs, signal, cause, sends }: Work, work: (options: CallOptions) => Promise<T>): Promise<T> {
  const end = new AbortController();
  let resumable = false;
  const scope: CallScope = { cause, sends, giveUp: (reason) => end.abort(reason), isResumable: () => resumable };
  signal?.throwIfAborted();
  const options = {
    signal: signal ? AbortSignal.any([signal, end.signal]) : end.signal,
    timeout: timeoutMs,
    onresumptiontoken: () => (resumable = true),
  };
  try {
    return await callScopes.run(scope, () => work(options as CallOptions));
  } catch (error) {
    // The client replaces the reason of an abort by its own error.
    if (signal?.aborted) throw signal.reason;
    if (end.signal.aborted) throw end.signal.reason;
    throw error;
  }
}

function authOf(tokens: TokenSource) {
  let inUse = '';
  const scope = (): CallScope => {
    const current = callScopes.current();
    if (!current) throw new Error('A request of a session belongs to no work.');
    return current;
  };
  return {
    token: async () => {
      const { cause, sends } = scope();
      inUse ||= await tokens.token(cause);
      sends?.(inUse);
      return inUse;
    },
    onUnauthorized: async () => {
      inUse = await tokens.renewed(inUse, scope().cause);
    },
  };
}
