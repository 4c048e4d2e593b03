import { Module } from '@nestjs/common';
import { AgentFolderQueries } from '../../../../projections/agents/agent-folders.queries.js';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { ChangeAgentFolderHandler, CreateAgentFolderHandler, DeleteAgentFolderHandler } from './agent-folders.commands.js';
import { AgentFoldersController } from './agent-folders.http.js';
import { agentFoldersRejections } from './agent-folders.rejections.js';

/** The folders into which users sort their agents. */
@Module({
  controllers: [AgentFoldersController],
  providers: [AgentFolderQueries, AgentQueries, CreateAgentFolderHandler, ChangeAgentFolderHandler, DeleteAgentFolderHandler],
})
export class AgentFoldersModule {
  static readonly rejections = agentFoldersRejections;
}
