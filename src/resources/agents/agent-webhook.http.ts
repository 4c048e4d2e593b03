import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Commands } from '../../kernel/commands.js';
import { AgentQueries, type AgentRecord } from '../../../projections/agents/agents.queries.js';
import type { SignedInUser } from '../identity/caller.js';
import { reached } from '../identity/access.policy.js';
import { CurrentUser } from '../identity/identity.http.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { agentNotFound } from './agent.decider.js';
import type { AgentWebhook } from './agent.events.js';
import { MintAgentWebhook } from './agent.commands.js';
import { BaseUrl } from './public-base-url.http.js';
import { WebhookTokens } from './webhook-tokens.js';
import { Access } from '../../platform/http/access.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';
import { inQuery } from '../../kernel/access.js';

/** Returns the URL of an agent's webhook to its owner. A request to this URL starts a run of the agent. */
@ApiTags('Agents')
@Controller('api')
export class AgentWebhookController {
  constructor(
    private readonly commands: Commands,
    private readonly agents: AgentQueries,
    private readonly tokens: WebhookTokens,
  ) {}

  @Access({ for: 'user', action: 'read', of: 'agents', scopes: ['agents:keys'], at: inQuery('id') })
  @Get('agent_webhook')
  @ApiOperation({ summary: 'Returns the webhook URL of one of the user’s agents. It never changes.' })
  @ApiQuery({ name: 'id', required: true })
  async url(
    @CurrentUser() user: SignedInUser,
    @BaseUrl() baseUrl: string,
    @Confirms('agents') confirm: Confirm,
    @Query('id') id?: unknown,
  ) {
    if (!id) throw new Rejection('invalid-request', 'ID is required');
    const agent = reached(user, isId(id) ? await this.agents.byId(id) : undefined, agentNotFound, 'agents');
    const token = await this.tokens.reveal(user.userId, agent.webhook ?? (await this.mint(user, agent, confirm)));
    return { success: true, webhook_url: `${baseUrl}/api/webhooks/agents/${token}` };
  }

  private async mint(user: SignedInUser, { id }: AgentRecord, confirm: Confirm): Promise<AgentWebhook> {
    const { webhook, position } = await this.commands.execute(new MintAgentWebhook(id, user.userId, user.cause));
    await confirm(position);
    return webhook;
  }
}
