import { Injectable, Logger } from '@nestjs/common';
import { type CallToolResult, fromJsonSchema, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { Rejection } from '../../kernel/rejection.js';
import { Timing } from '../../kernel/timing.js';
import { withSignals } from '../../kernel/with-signals.js';
import { failureOf } from '../../platform/http/errors.js';
import { SseStreams } from '../../platform/http/sse.js';
import { VERSION } from '../../kernel/version.js';
import type { AgentKeyCaller } from '../../resources/identity/caller.js';
import type { Identity } from '../../resources/identity/identity.js';
import { AgentSearch } from '../../resources/sources/chunks/agent-search.port.js';
import { SEARCH_CHUNKS_DEFAULT } from '../../resources/sources/source/retrieval.policy.js';
import { AgentAnswers, type AskedAgent } from './agent-answers.js';
import { McpOptions } from './mcp-options.js';

const FOUND = {
  type: 'array',
  items: {
    type: 'object',
    properties: { text: { type: 'string' }, title: { type: 'string' }, source: { type: 'string' } },
    required: ['text', 'title', 'source'],
  },
} as const;

const SEARCH = {
  title: 'Search documents',
  description: 'Searches the documents of the agent and returns the passages that fit the query best.',
  inputSchema: fromJsonSchema<{ query: string; chunks?: number }>({
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What to look for.' },
      chunks: { type: 'integer', default: SEARCH_CHUNKS_DEFAULT, description: 'How many passages at most.' },
    },
    required: ['query'],
  }),
  outputSchema: fromJsonSchema<{ result: unknown }>({ type: 'object', properties: { result: FOUND }, required: ['result'] }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

const ASK = {
  title: 'Ask the agent',
  description: 'Asks the agent, which answers from its documents and with its tools.',
  inputSchema: fromJsonSchema<AskedAgent>({
    type: 'object',
    properties: {
      question: { type: 'string', description: 'What to ask.' },
      conversation_id: { type: 'string', description: 'Continues the conversation that an earlier answer named.' },
    },
    required: ['question'],
  }),
  outputSchema: fromJsonSchema({
    type: 'object',
    properties: { answer: { type: 'string' }, conversation_id: { type: 'string' }, sources: FOUND },
    required: ['answer', 'conversation_id', 'sources'],
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

/** The minimum time between progress notifications. They extend the timeout of clients, so not every frame needs one. */
const PROGRESS_MS_MIN = 1_000;

/** The MCP tools for the holder of an agent's key. */
@Injectable()
export class AgentTools {
  private readonly logger = new Logger(AgentTools.name);

  constructor(
    private readonly searching: AgentSearch,
    private readonly answers: AgentAnswers,
    private readonly agents: AgentQueries,
    private readonly streams: SseStreams,
    private readonly timing: Timing,
    private readonly options: McpOptions,
  ) {}

  /**
   * The tools that this caller sees. Every caller sees the search, which checks the key. Only callers who may ask see `ask`; a call
   * of it with an invalid key gets the error about the key. `endings` end the wait for an answer.
   */
  async serverFor(identity: Identity, isCall: boolean, endings: readonly AbortSignal[]): Promise<McpServer> {
    const server = new McpServer({ name: 'verbatim', version: VERSION }, { capabilities: { tools: { listChanged: false } } });
    server.registerTool('search_docs', SEARCH, ({ query, chunks }) =>
      this.answered(identity, async (caller) => {
        const wanted = chunks ?? SEARCH_CHUNKS_DEFAULT;
        const result = wanted <= 0 ? [] : (await this.searching.search(caller, query, wanted)).chunks;
        return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { result } };
      }),
    );
    if ((await this.mayAsk(identity)) ?? isCall) {
      server.registerTool('ask', ASK, (asked, context) =>
        this.answered(identity, (caller) => this.ask(asked, caller, context, endings)),
      );
    }
    return server;
  }

  private async ask(asked: AskedAgent, caller: AgentKeyCaller, { mcpReq }: ServerContext, endings: readonly AbortSignal[]) {
    const release = this.streams.reserve(this.options.streamsMax);
    if (!release) throw new Rejection('too-many-requests', 'Too many concurrent streams');
    try {
      const answer = await withSignals([mcpReq.signal, ...endings], (signal) =>
        this.answers.ask(asked, caller, signal, this.progress(mcpReq)),
      );
      const more = JSON.stringify({ conversation_id: answer.conversation_id });
      return {
        content: [
          { type: 'text' as const, text: answer.answer },
          { type: 'text' as const, text: more },
        ],
        structuredContent: answer,
      };
    } finally {
      release();
    }
  }

  /** Sends the number of frames so far to a client that requested progress notifications. */
  private progress({ _meta, notify }: ServerContext['mcpReq']): (frameId: number) => void {
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return () => undefined;
    let last = -Infinity;
    return (frameId) => {
      const now = this.timing.elapsedMs();
      if (now - last < PROGRESS_MS_MIN) return;
      last = now;
      // The client may have disconnected. The answer continues.
      notify({ method: 'notifications/progress', params: { progressToken, progress: frameId + 1 } }).catch(() => undefined);
    };
  }

  /** Undefined without a valid key: an invalid key is rejected when a tool is called. */
  private async mayAsk(identity: Identity): Promise<boolean | undefined> {
    const holder = await identity.agentKey().catch((error: unknown) => {
      if (error instanceof Rejection) return undefined;
      throw error;
    });
    return holder && ((await this.agents.byId(holder.agentId))?.configuration.mcpAsk ?? false);
  }

  /** Returns a rejection as the result of the tool, with the message that other interfaces use. */
  private async answered(identity: Identity, work: (caller: AgentKeyCaller) => Promise<CallToolResult>): Promise<CallToolResult> {
    try {
      const caller = await identity.agentKey();
      if (!caller) throw new Rejection('unauthenticated', 'Missing Bearer token');
      return await work(caller);
    } catch (error) {
      const { message, unexpected } = failureOf(error, identity.requestId);
      if (unexpected) this.logger.error(`A tool call failed (request ${identity.requestId})`, error);
      return { content: [{ type: 'text', text: message }], isError: true };
    }
  }
}
