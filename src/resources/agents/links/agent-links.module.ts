import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { AgentsModule } from '../agents.module.js';
import { AdoptedAgents } from './adopted-agents.js';
import { KeepAgentHandler, ShareAgentByLinkHandler } from './agent-link.commands.js';
import { AgentLinksController } from './agent-links.http.js';
import { agentLinksRejections } from './agent-links.rejections.js';

/** Links by which agents are shared. */
@Module({
  imports: [AgentsModule],
  controllers: [AgentLinksController],
  providers: [AgentQueries, AdoptedAgents, ShareAgentByLinkHandler, KeepAgentHandler],
})
export class AgentLinksModule {
  static readonly rejections = agentLinksRejections;
}
