import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import { isIdempotent } from '../toolbox/access.policy.js';
import {
  CredentialsMissing,
  CredentialsUnreadable,
  CredentialVault,
} from '../../../platform/credentials/credential-vault.port.js';
import { AddressRefused, OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import {
  type CallContext,
  type Configured,
  SignInRequired,
  ToolFailed,
  ToolKind,
  type ToolReport,
  type UsedTool,
} from '../toolbox/tool-kind.port.js';
import type { ActionDefinition, ToolDefinition } from '../toolbox/tool.events.js';
import { MCP_RESULT_BYTES_MAX, resultOf, withoutSecrets } from './mcp-answer.policy.js';
import { MCP_CONFIG_FIELDS, mcpSettings, OAUTH_GRANT, secretsInUse, shownConfig, signInHeaders } from './mcp-config.policy.js';
import { failureText, isServiceFailure, isSignInNeeded } from './mcp-failures.js';
import { McpServers } from './mcp-servers.js';
import { OAuthGrants } from './oauth-grants.js';

type Config = Readonly<Record<string, unknown>>;
type Secrets = Readonly<Record<string, string>>;

/** The tools of a server of the Model Context Protocol, called over streamable HTTP. */
@Injectable()
export class McpTool extends ToolKind implements OnModuleDestroy {
  readonly name = 'mcp_tool';
  readonly displayName = 'MCP Server';
  readonly description = 'Tools of a server that speaks the Model Context Protocol.';
  readonly configFields = MCP_CONFIG_FIELDS;
  readonly actions: readonly ActionDefinition[] = [];

  constructor(
    private readonly servers: McpServers,
    private readonly grants: OAuthGrants,
    private readonly outgoing: OutgoingHttp,
    private readonly vault: CredentialVault,
  ) {
    super();
  }

  /**
   * Lists the tools of the server. A server that cannot be reached is not stored. @throws Rejection tool-invalid,
   * tool-server-refused, oauth-not-granted, tool-server-unreachable
   */
  override async configure(config: Config, secrets: Secrets, ownerId: string, cause: Cause): Promise<Configured> {
    const settings = mcpSettings(config);
    await this.refuseAddress(settings.serverUrl);
    signInHeaders(settings, secrets);
    const grantId = settings.authType === 'oauth' ? settings.grantId : null;
    if (settings.authType === 'oauth') await this.refuseGrant(grantId, ownerId, settings.serverUrl);
    const used = secretsInUse(settings, secrets);
    try {
      const actions = await this.servers.actions({ ownerId, settings, secrets: used, grantId }, cause);
      return { config: shownConfig(settings), secrets: used, actions };
    } catch (error) {
      if (error instanceof Rejection || isServiceFailure(error)) throw error;
      throw new Rejection('tool-server-unreachable', failureText(error));
    }
  }

  /** The tools of a server. Missing secrets are taken from the stored tool if it has the same origin. */
  async tryOut(ownerId: string, config: Config, stored: ToolDefinition | undefined, cause: Cause) {
    const known = stored && isSamePlace(config, stored) ? await this.secretsOf(ownerId, stored) : {};
    const given = Object.entries(config).filter(([name, value]) => this.configFields[name]?.secret && isFilled(value));
    const { actions = [] } = await this.configure(config, { ...known, ...Object.fromEntries(given) } as Secrets, ownerId, cause);
    return { actions };
  }

  /**
   * The configuration that a client sent. The sign-in of the stored tool is kept if the client names none and the origin is the
   * same.
   */
  asStored(config: Config, stored: ToolDefinition | undefined): Config {
    const scopes = config['oauth_scopes'];
    const known = stored && isSamePlace(config, stored) ? stored.config['oauth_task_id'] : undefined;
    const grant = isFilled(config['oauth_task_id']) ? config['oauth_task_id'] : known;
    return {
      ...config,
      ...(Array.isArray(scopes) && { oauth_scopes: scopes.join(', ') }),
      ...(grant !== undefined && { oauth_task_id: grant }),
    };
  }

  async run(
    action: ActionDefinition,
    args: Config,
    tool: UsedTool,
    { signal, cause, background }: CallContext,
  ): Promise<unknown> {
    const { toolId, ownerId, definition, secrets } = tool;
    const settings = mcpSettings(definition.config);
    const own = { ownerId, settings, secrets, grantId: settings.authType === 'oauth' ? (secrets[OAUTH_GRANT] ?? '') : null };
    const call = { name: action.name, arguments: { ...args } };
    const timeoutMs = settings.timeoutSeconds * 1000;
    // The time limit covers everything: connecting, calling and repeating the call.
    const sent = [...Object.values(secrets), ...Object.values(signInHeaders(settings, secrets)).map(withoutScheme)];
    const work = {
      timeoutMs,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      cause,
      sends: (token: string) => void sent.push(token),
      ...(background && { report: (report: ToolReport) => background.report(withoutSecrets(report, sent)) }),
    };
    const answer = await this.servers.call(toolId, own, call, work, isIdempotent(this.name, action)).catch((error: unknown) => {
      if (signal.aborted || isServiceFailure(error)) throw error;
      const Failure = isSignInNeeded(error) ? SignInRequired : ToolFailed;
      throw new Failure(withoutSecrets(failureText(error), sent), { cause: error });
    });
    const result = withoutSecrets(resultOf(answer), sent);
    if (Buffer.byteLength(JSON.stringify(result)) > MCP_RESULT_BYTES_MAX) {
      throw new ToolFailed(`The tool ran, but its result is larger than ${MCP_RESULT_BYTES_MAX} bytes.`);
    }
    return result;
  }

  onModuleDestroy(): Promise<void> {
    return this.servers.close();
  }

  /** @throws Rejection tool-server-refused if the address is not allowed */
  async refuseAddress(url: string): Promise<void> {
    await this.outgoing.check(url).catch((error: unknown) => {
      if (error instanceof AddressRefused) throw new Rejection('tool-server-refused', 'Invalid server URL');
      throw error;
    });
  }

  private async secretsOf(ownerId: string, { credentialsId }: ToolDefinition): Promise<Secrets> {
    if (credentialsId === null) return {};
    return this.vault.reveal(ownerId, credentialsId).catch((error: unknown) => {
      if (error instanceof CredentialsMissing || error instanceof CredentialsUnreadable) return {};
      throw error;
    });
  }

  private async refuseGrant(grantId: string | null, ownerId: string, serverUrl: string): Promise<void> {
    const grant = grantId === null ? undefined : await this.grants.grant(grantId);
    if (grant?.status === 'granted' && grant.ownerId === ownerId && grant.serverUrl === serverUrl) return;
    throw new Rejection('oauth-not-granted', 'Connection not authorized. Please sign in to the tool server first.');
  }
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** Stored secrets and sign-ins may only be sent to the origin for which they were given. */
const isSamePlace = (config: Config, { config: stored }: ToolDefinition): boolean =>
  URL.parse(mcpSettings(config).serverUrl)?.origin === URL.parse(mcpSettings(stored).serverUrl)?.origin;

const withoutScheme = (header: string): string => header.replace(/^(Basic|Bearer) /, '');
