import { Body, Controller, Delete, Get, HttpCode, Post, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IsBoolean, IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';
import { type AgentRecord, AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { type ResourceAction, inBody, inQuery } from '../../../kernel/access.js';
import { Commands } from '../../../kernel/commands.js';
import { Fingerprints } from '../../../kernel/event-sourcing/fingerprints.js';
import { isId } from '../../../kernel/ids.js';
import { isLinkToken, linkTokenHash, linkTokenOf } from '../../../kernel/event-sourcing/link-tokens.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBody, RequiredQuery } from '../../../platform/http/documented.js';
import { onlookerOf, type SignedInUser } from '../../identity/caller.js';
import { CurrentUser, UserIfSignedIn } from '../../identity/identity.http.js';
import { Reaching } from '../../identity/reaching.js';
import { agentNotFound } from '../agent.decider.js';
import { CreateAgent } from '../agent.commands.js';
import { imageUrl } from '../agent-images.http.js';
import { agentRecord } from '../agent-record.http.js';
import { BaseUrl } from '../public-base-url.http.js';
import { ReferredThings } from '../referred-things.js';
import { AdoptedAgents } from './adopted-agents.js';
import { KeepAgent, ShareAgentByLink } from './agent-link.commands.js';
import { sharedAgentNotFound } from './kept-agents.decider.js';
import { type Confirm, Confirms } from '../../confirmed-writes.http.js';

const NAME_CHARACTERS_MAX = 200;

export class AgentShare {
  @IsString() @IsNotEmpty() id!: string;
  @IsBoolean() shared!: boolean;
  /** The name of the person who shares the agent, which visitors see. */
  @IsOptional() @IsString() @MaxLength(NAME_CHARACTERS_MAX) username?: string | null;
}

/** Links to agents. Anyone with a link can see the agent, and signed-in visitors can ask it. */
@ApiTags('Agents')
@Controller('api')
export class AgentLinksController {
  constructor(
    private readonly commands: Commands,
    private readonly agents: AgentQueries,
    private readonly things: ReferredThings,
    private readonly adopted: AdoptedAgents,
    private readonly reaching: Reaching,
    private readonly fingerprints: Fingerprints,
  ) {}

  @ApiOperation({ summary: 'Gives an agent a link unless it has one, or ends the link' })
  @DocumentedBody({ type: AgentShare }, { id: '00000000-0000-4000-8000-000000000000', shared: true, username: 'Alice' })
  @Access({ for: 'user', action: 'change', of: 'agents', at: inBody('id'), granted: 'share' })
  @Put('share_agent')
  async share(
    @CurrentUser() user: SignedInUser,
    @Confirms('agents') confirm: Confirm,
    @Body() { id, shared, username }: AgentShare,
  ) {
    const { ownerId } = await this.reached(user, id, 'share');
    const wanted = { shared, sharedBy: username?.trim() ?? '' };
    const { token, position } = await this.commands.execute(new ShareAgentByLink(id, ownerId, wanted, user.cause));
    await confirm(position);
    return { success: true, shared_token: token || null };
  }

  @ApiResponse({ status: 404, description: 'The link has ended or never existed.' })
  @ApiOperation({ summary: 'Returns what a link shows. Adds the agent to the list of shared agents of a signed-in visitor' })
  @RequiredQuery('token')
  @Access({ for: 'capability', action: 'read', of: 'shared agents' })
  @Get('shared_agent')
  async shared(
    @UserIfSignedIn() user: SignedInUser | undefined,
    @Confirms('agents') confirm: Confirm,
    @BaseUrl() baseUrl: string,
    @Query('token') token?: string,
  ) {
    if (!token) throw new Rejection('invalid-request', 'Token or ID is required');
    const agent = isLinkToken(token) ? await this.agents.byLinkHash(linkTokenHash(token)) : undefined;
    if (!agent?.link) throw sharedAgentNotFound();
    // A request with an access token does not add the agent to the user's list.
    const visitor = onlookerOf(user);
    if (visitor && !this.reaching.isOwn(visitor, agent))
      await confirm(await this.commands.execute(new KeepAgent(visitor.userId, agent.id, agent.link.linkId, visitor.cause)));
    return this.visitorsRecord(agent, token, baseUrl);
  }

  @ApiOperation({ summary: 'Lists the agents of others that the user has opened by links that are still open, newest first' })
  @Access({ for: 'user', action: 'list', of: 'shared agents' })
  @Get('shared_agents')
  async kept(@CurrentUser() user: SignedInUser, @BaseUrl() baseUrl: string) {
    const kept = await this.agents.keptBy(user.userId);
    const records = kept.map((agent) =>
      this.visitorsRecord(agent, linkTokenOf(this.fingerprints, 'agent-link', agent.link!.linkId), baseUrl),
    );
    return Promise.all(records);
  }

  @ApiOperation({ summary: 'Removes an agent from the list of shared agents; its running answers for the user stop' })
  @RequiredQuery('id')
  @Access({ for: 'user', action: 'change', of: 'shared agents', at: inQuery('id') })
  @Delete('remove_shared_agent')
  async remove(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Query('id') id?: string) {
    if (!id) throw new Rejection('invalid-request', 'ID is required');
    if (!isId(id)) throw sharedAgentNotFound();
    await confirm(await this.commands.execute(new KeepAgent(user.userId, id, null, user.cause)));
    return { success: true, action: 'removed' };
  }

  @ApiOperation({ summary: 'Creates a copy of an agent that the user may ask; the copy belongs to the user and has its own key' })
  @RequiredQuery('id')
  @Access({ for: 'user', action: 'ask', of: 'agents', at: inQuery('id'), granted: 'use' })
  @Post('adopt_agent')
  @HttpCode(200)
  async adopt(
    @CurrentUser() user: SignedInUser,
    @Confirms('agents') confirm: Confirm,
    @BaseUrl() baseUrl: string,
    @Query('id') id?: string,
  ) {
    if (!id) throw new Rejection('invalid-request', 'ID required');
    const { configuration } = await this.reached(user, id, 'use');
    const wanted = { configuration: await this.adopted.of(configuration, user.userId), status: 'published' } as const;
    const { agentId, key, position } = await this.commands.execute(new CreateAgent(user.userId, wanted, user.cause));
    await confirm(position);
    const agent = (await this.agents.byId(agentId))!;
    const tools = await this.things.toolDetails([agent]);
    return {
      success: true,
      agent: { ...agentRecord({ agent, grant: undefined, pinned: false, tools, linkToken: '', baseUrl }), key },
    };
  }

  /** The record of an agent for visitors, which does not show its configuration. */
  private async visitorsRecord(agent: AgentRecord, token: string, baseUrl: string) {
    const { configuration, link } = agent;
    const tools = await this.things.toolDetails([agent]);
    return {
      ...{ id: agent.id, user: agent.ownerId, name: configuration.name, description: configuration.description },
      image: imageUrl(baseUrl, agent.id, configuration.image),
      tools: [...tools.values()].map(({ name }) => name),
      ...{ agent_type: configuration.agentType, status: agent.status },
      ...{ created_at: agent.createdAt.toISOString(), updated_at: agent.updatedAt.toISOString() },
      ...{ shared: true, shared_token: token },
      shared_metadata: { shared_by: link!.sharedBy, shared_at: link!.sharedAt.toISOString() },
    };
  }

  private async reached(user: SignedInUser, id: string, needs: ResourceAction): Promise<AgentRecord> {
    const agent = isId(id) ? await this.agents.byId(id) : undefined;
    return this.reaching.reached(user, agent, 'agents', needs, agentNotFound);
  }
}
