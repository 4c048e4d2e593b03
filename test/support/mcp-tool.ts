import { AuthorizationServers } from '../../src/resources/tools/mcp/authorization-server.js';
import { McpServers } from '../../src/resources/tools/mcp/mcp-servers.js';
import { McpSessions, type McpSessionLimits } from '../../src/resources/tools/mcp/mcp-sessions.js';
import { McpTool } from '../../src/resources/tools/mcp/mcp-tool.js';
import {
  AwaitSignInHandler,
  FailOverdueSignInHandler,
  FailSignInHandler,
  GrantSignInHandler,
  MarkGrantLostHandler,
  RefreshTokensHandler,
  StartHandshakeHandler,
  TakeSignInStateHandler,
} from '../../src/resources/tools/mcp/sign-in/oauth.commands.js';
import { OAuthGrants } from '../../src/resources/tools/mcp/oauth-grants.js';
import { OAuthHandshakes } from '../../src/resources/tools/mcp/oauth-handshakes.js';
import type { KeyValue } from '../../src/kernel/messaging/key-value.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { InProcessKeyValue } from '../../src/platform/messaging/key-value/in-process-key-value.js';
import { AddressRefused } from '../../src/platform/outgoing/outgoing-http.port.js';
import type { ActionDefinition } from '../../src/resources/tools/toolbox/tool.events.js';
import { commandsOver } from './commands-over.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { MemoryCredentialVault } from './memory-credential-vault.js';
import { PlainOutgoingHttp } from './plain-outgoing-http.js';
import { systemIds } from '../../src/platform/system-ids.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { Background } from '../../src/resources/tools/toolbox/tool-kind.port.js';

const cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' } as const;

export type CallOptions = Readonly<{
  toolId?: string;
  config?: Record<string, unknown>;
  secrets?: Record<string, string>;
  signal?: AbortSignal;
  report?: Background['report'];
}>;

/** What several processes of one service share. */
type Shared = Readonly<{ store: InMemoryEventStore; vault: MemoryCredentialVault; keyValue: KeyValue }>;

/** The MCP tool kind with all its dependencies in memory, for servers of tests. */
export function mcpToolForTests(limits?: McpSessionLimits, now: () => Date = () => new Date(), beside: Partial<Shared> = {}) {
  const outgoing = new PlainOutgoingHttp();
  const store = beside.store ?? new InMemoryEventStore();
  const streams = new Streams(store, systemTiming);
  const vault = beside.vault ?? new MemoryCredentialVault();
  const keyValue = beside.keyValue ?? new InProcessKeyValue();
  const authorization = new AuthorizationServers(outgoing.fetch, now);
  const commands = commandsOver(
    new StartHandshakeHandler(streams, { now }),
    new AwaitSignInHandler(streams),
    new TakeSignInStateHandler(streams, { now }),
    new GrantSignInHandler(streams),
    new FailSignInHandler(streams),
    new FailOverdueSignInHandler(streams),
    new RefreshTokensHandler(streams),
    new MarkGrantLostHandler(streams),
  );
  const grants = new OAuthGrants(streams, commands, vault, authorization, keyValue, { now }, systemTiming, systemIds);
  const sessions = new McpSessions(outgoing.fetch, limits);
  const servers = new McpServers(outgoing.fetch, grants, sessions);
  const handshakes = new OAuthHandshakes(streams, commands, vault, authorization, servers);
  const tool = new McpTool(servers, grants, outgoing, vault);
  const call = async (
    server: Readonly<{ url: string }>,
    name: string,
    args: Record<string, unknown> = {},
    { toolId = 't1', config = {}, secrets = {}, signal = new AbortController().signal, report }: CallOptions = {},
  ): Promise<unknown> => {
    const repeatable = name === 'echo';
    const action = {
      name,
      description: '',
      active: true,
      parameters: { type: 'object', properties: {} },
      annotations: { readOnlyHint: repeatable },
    } satisfies ActionDefinition;
    const definition = {
      name: 'mcp_tool',
      displayName: '',
      customName: '',
      description: '',
      config: { server_url: server.url, ...config },
      credentialsId: null,
      actions: [action],
      status: true,
    };
    const context = {
      callId: 'c1',
      userId: 'alice',
      agentId: null,
      conversationId: 'k',
      turnId: 'u',
      sources: [],
      cause,
      signal,
      ...(report && { background: { begun: new AbortController().signal, msMax: 60_000, report } }),
    };
    return tool.run(action, args, { toolId, ownerId: 'alice', definition, secrets }, context);
  };
  return {
    tool,
    call,
    cause,
    store,
    streams,
    commands,
    vault,
    keyValue,
    grants,
    handshakes,
    sessions,
    refuseAddresses: () => {
      outgoing.check = () => Promise.reject(new AddressRefused('private'));
    },
    close: () => servers.close(),
  };
}

export type McpToolForTests = ReturnType<typeof mcpToolForTests>;
