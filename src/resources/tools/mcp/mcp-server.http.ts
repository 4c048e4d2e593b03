import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Commands } from '../../../kernel/commands.js';
import { type ToolRecord, ToolQueries } from '../../../../projections/tools/tools.queries.js';
import type { SignedInUser } from '../../identity/caller.js';
import { reached } from '../../identity/access.policy.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { WrongCredentials } from '../../identity/client-limits.port.js';
import { Clock } from '../../../kernel/clock.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { withoutTrailing } from '../../../kernel/trailing.js';
import { ChangeTool, CreateTool } from '../toolbox/tool.commands.js';
import { TOOLS_PER_USER_MAX } from '../toolbox/definition.policy.js';
import { toolNotFound } from '../toolbox/tool.decider.js';
import { mcpSettings } from './mcp-config.policy.js';
import { CALLBACK_PATH, McpOptions } from './mcp-options.js';
import { CALLBACK_HEADERS, callbackPage, handshakeRecord } from './mcp-server-records.js';
import { McpServerTrial, McpServerWish, SignInReply } from './mcp-server.dto.js';
import { McpTool } from './mcp-tool.js';
import { isOverdue } from './sign-in/oauth.decider.js';
import { OAuthGrants } from './oauth-grants.js';
import { OAuthHandshakes } from './oauth-handshakes.js';
import { DocumentedBody, OptionalQuery, type Sent } from '../../../platform/http/documented.js';
import { Access } from '../../../platform/http/access.js';
import { type Confirm, Confirms } from '../../confirmed-writes.http.js';
import { inBody } from '../../../kernel/access.js';

const SERVER = { server_url: 'https://tools.example/mcp', auth_type: 'none' };

/** The routes for testing tool servers, signing in to them and setting them up. */
@ApiTags('Tools')
@Controller('api/mcp_server')
export class McpServerController {
  constructor(
    private readonly commands: Commands,
    private readonly tools: ToolQueries,
    private readonly kind: McpTool,
    private readonly handshakes: OAuthHandshakes,
    private readonly grants: OAuthGrants,
    private readonly options: McpOptions,
    private readonly clock: Clock,
    private readonly wrongCredentials: WrongCredentials,
  ) {}

  @ApiOperation({ summary: 'Tests a tool server and lists its tools, or returns the address of its sign-in' })
  @DocumentedBody({ type: McpServerTrial }, { config: SERVER })
  @Access({ for: 'user', action: 'describe', of: 'tools', scopes: ['tools:write'], refs: [{ family: 'tools', ...inBody('id') }] })
  @Post('test')
  @HttpCode(200)
  async test(@CurrentUser() user: SignedInUser, @Req() request: FastifyRequest, @Body() { id, config }: McpServerTrial) {
    const tool = await this.own(user, id);
    const settings = mcpSettings(config);
    if (settings.authType === 'oauth') return this.signIn(user, request, config);
    try {
      const { actions } = await this.kind.tryOut(user.userId, config, tool?.definition, user.cause);
      const tools = actions.map(({ name, description }) => ({ name, description }));
      return { success: true, message: 'Connection successful', tools_count: tools.length, tools };
    } catch (error) {
      if (!(error instanceof Rejection) || error.code !== 'tool-server-unreachable') throw error;
      return { success: false, message: error.message, tools_count: 0 };
    }
  }

  @ApiOperation({ summary: 'Sets a tool server up, or changes it' })
  @DocumentedBody({ type: McpServerWish }, { displayName: 'Issues', config: SERVER })
  @Access({ for: 'user', action: 'change', of: 'tools', scopes: ['tools:write'], at: inBody('id') })
  @Post('save')
  @HttpCode(200)
  async save(@CurrentUser() user: SignedInUser, @Confirms('tools') confirm: Confirm, @Body() body: McpServerWish) {
    const { id, displayName, status } = body;
    const tool = await this.own(user, id);
    if (!tool && (await this.tools.countOf(user.userId)) >= TOOLS_PER_USER_MAX) {
      throw new Rejection('too-many-tools', `There can be at most ${TOOLS_PER_USER_MAX} tools.`);
    }
    const config = this.kind.asStored(body.config, tool?.definition);
    const description = `MCP Server: ${mcpSettings(config).serverUrl}`;
    const wish = { displayName, customName: displayName, description, config, status };
    const { toolId, position } = tool
      ? { toolId: tool.id, position: await this.commands.execute(new ChangeTool(tool.id, user.userId, wish, user.cause)) }
      : await this.commands.execute(new CreateTool(user.userId, this.kind.name, wish, user.cause));
    await confirm(position);
    const count = (await this.tools.byId(toolId))?.definition.actions.length ?? 0;
    const done = tool ? 'updated' : 'created';
    return { success: true, id: toolId, message: `MCP server ${done} with ${count} tools.`, tools_count: count };
  }

  /** Browsers return here. The state, which works once, says whose sign-in it is. */
  @ApiOperation({ summary: 'The page to which browsers return from a sign-in at a tool server' })
  @ApiProduces('text/html')
  @OptionalQuery('state', 'code', 'iss', 'error')
  @Access({ for: 'capability', action: 'change', of: 'tools' })
  @Get('callback')
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Query() query: SignInReply): Promise<Sent<string>> {
    const cause = {
      actor: 'system:mcp-oauth-callback',
      credential: 'none',
      correlationId: request.id,
      causationId: request.id,
    } as const;
    const { state = '', ...rest } = query;
    const outcome = await this.handshakes
      .finish({ state, ...rest, cause })
      .then(({ status }) => (status === 'granted' ? 'granted' : 'failed'))
      .catch(async (error: unknown) => {
        if (!(error instanceof Rejection)) throw error;
        if (error.code === 'oauth-handshake-not-found') await this.wrongCredentials.count(request);
        return error.code === 'oauth-state-used' ? 'used' : 'failed';
      });
    const granted = outcome === 'granted';
    await reply
      .code(granted ? 200 : 400)
      .headers(CALLBACK_HEADERS)
      .send(callbackPage(outcome));
  }

  @ApiOperation({ summary: 'The status of a sign-in at a tool server' })
  @Access({ for: 'user', action: 'read', of: 'tools' })
  @Get('oauth_status/:taskId')
  async oauthStatus(@CurrentUser() { userId }: SignedInUser, @Param('taskId') taskId: string) {
    const grant = await this.handshakes.of(userId, taskId);
    return { success: true, ...handshakeRecord(grant, isOverdue(grant, this.clock.now())) };
  }

  /** The sign-in status of each tool server, without a request to any of them. */
  @ApiOperation({ summary: 'The sign-in status of the user’s tool servers' })
  @Access({ for: 'user', action: 'list', of: 'tools' })
  @Get('auth_status')
  async authStatus(@CurrentUser() { userId }: SignedInUser) {
    const own = (await this.tools.ownedBy(userId)).filter(({ definition }) => definition.name === this.kind.name);
    const statuses = await Promise.all(own.map(async (tool) => [tool.id, await this.statusOf(tool)] as const));
    return { success: true, statuses: Object.fromEntries(statuses) };
  }

  private async statusOf({ definition: { config } }: ToolRecord): Promise<'configured' | 'connected' | 'needs_auth'> {
    if (config['auth_type'] !== 'oauth') return 'configured';
    const grantId = config['oauth_task_id'];
    return isId(grantId) && (await this.grants.grant(grantId)).status === 'granted' ? 'connected' : 'needs_auth';
  }

  private async signIn(user: SignedInUser, request: FastifyRequest, config: McpServerTrial['config']) {
    const { serverUrl, scopes, clientId } = mcpSettings(config);
    await this.kind.refuseAddress(serverUrl);
    const secret = config['oauth_client_secret'];
    const client =
      clientId === null ? null : { client_id: clientId, ...(typeof secret === 'string' && secret && { client_secret: secret }) };
    const base = withoutTrailing(this.options.publicBaseUrl ?? `${request.protocol}://${request.host}`, '/');
    const redirectUrl = base + CALLBACK_PATH;
    const { userId: ownerId, cause } = user;
    const grant = await this.handshakes.start({ ownerId, serverUrl, scopes, client, redirectUrl, cause });
    return { success: grant.status === 'awaiting', requires_oauth: true, ...handshakeRecord(grant, false) };
  }

  /** The user's tool server with this id; undefined without an id. @throws Rejection tool-not-found */
  private async own(user: SignedInUser, id: string | null | undefined): Promise<ToolRecord | undefined> {
    if (!id) return undefined;
    const tool = reached(user, isId(id) ? await this.tools.byId(id) : undefined, toolNotFound, 'tools');
    if (tool.definition.name !== this.kind.name) throw toolNotFound();
    return tool;
  }
}
