import { createHash } from 'node:crypto';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { actionsOf, type ListedTool } from './mcp-actions.policy.js';
import type { CallAnswer } from './mcp-answer.policy.js';
import { type McpSettings, signInHeaders } from './mcp-config.policy.js';
import { type McpServer, McpSession, type ToolCall, type Work } from './mcp-session.js';
import { McpSessions } from './mcp-sessions.js';
import type { OAuthGrants } from './oauth-grants.js';

type Secrets = Readonly<Record<string, string>>;

/** A tool server with the settings and secrets of its owner. */
export type OwnServer = Readonly<{ ownerId: string; settings: McpSettings; secrets: Secrets; grantId: string | null }>;

/** The time limit for listing the tools of a server. */
const MCP_LISTING_MS_MAX = 30_000;

/** Lists and calls tool servers with the credentials of their owners. */
export class McpServers {
  private readonly sessions: McpSessions;

  constructor(
    private readonly fetch: typeof globalThis.fetch,
    private readonly grants: OAuthGrants,
    sessions?: McpSessions,
  ) {
    this.sessions = sessions ?? new McpSessions(fetch);
  }

  /** The tools that a server offers now. Uses a new session. */
  async actions(own: OwnServer, cause: Cause): Promise<readonly ActionDefinition[]> {
    return actionsOf(await this.listed(this.serverOf(own), cause));
  }

  /** The tools that a server offers to the holder of a token. */
  async actionsFor(serverUrl: string, accessToken: string, cause: Cause): Promise<readonly ActionDefinition[]> {
    const headers = { Authorization: `Bearer ${accessToken}` };
    return actionsOf(await this.listed({ url: serverUrl, headers, timeoutMs: MCP_LISTING_MS_MAX }, cause));
  }

  /** Calls a tool in its shared session. */
  call(toolId: string, own: OwnServer, call: ToolCall, work: Work, repeatable: boolean): Promise<CallAnswer> {
    const act = (session: McpSession): Promise<CallAnswer> => session.call(call, work);
    return this.sessions.use(keyOf(toolId, own), this.serverOf(own), { work, repeatable, act });
  }

  close(): Promise<void> {
    return this.sessions.close();
  }

  private async listed(server: McpServer, cause: Cause): Promise<readonly ListedTool[]> {
    const work = { cause, timeoutMs: Math.min(server.timeoutMs, MCP_LISTING_MS_MAX) };
    const session = await McpSession.open(server, this.fetch, work);
    try {
      return await session.tools(work);
    } finally {
      void session.end();
    }
  }

  private serverOf({ ownerId, settings, secrets, grantId }: OwnServer): McpServer {
    return {
      url: settings.serverUrl,
      headers: signInHeaders(settings, secrets),
      tokens: grantId === null ? undefined : this.grants.tokensOf(ownerId, grantId),
      timeoutMs: settings.timeoutSeconds * 1000,
    };
  }
}

/** Different settings or secrets need different sessions. */
const keyOf = (toolId: string, { ownerId, settings, secrets, grantId }: OwnServer): string =>
  createHash('sha256')
    .update(JSON.stringify([toolId, ownerId, settings, Object.entries(secrets).sort(), grantId]))
    .digest('hex');
