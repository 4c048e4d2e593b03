import { Module } from '@nestjs/common';
import { MultipartModule } from '@nestjs/platform-fastify';
import { AgentFolderQueries } from '../../../projections/agents/agent-folders.queries.js';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import { AgentKeyDirectory } from '../identity/agent-key-directory.port.js';
import { Config } from '../../platform/config/config.js';
import { AccessibleReferences } from './accessible-references.js';
import { AgentImagesController } from './agent-images.http.js';
import { AgentWebhookController } from './agent-webhook.http.js';
import { AgentsController } from './agents.http.js';
import { agentHandlers } from './agent.commands.js';
import { DeleteWorkflowOfAgent } from './delete-workflow-of-agent.reaction.js';
import { ReferredThings } from './referred-things.js';
import { StoredAgentKeys } from './stored-agent-keys.js';
import { PublicBaseUrl } from './public-base-url.http.js';
import { WebhookTokens } from './webhook-tokens.js';
import { agentsRejections } from './agents.rejections.js';

/** Limits for uploads: clients send no other files to these routes than pictures of agents. */
const images = MultipartModule.registerAsync({
  inject: [Config],
  useFactory: ({ agentImageBytesMax }: Config) => ({ limits: { fileSize: agentImageBytesMax, files: 1 } }),
});

@Module({
  imports: [images],
  controllers: [AgentsController, AgentImagesController, AgentWebhookController],
  providers: [
    AgentFolderQueries,
    AgentQueries,
    PromptQueries,
    SourceQueries,
    ToolQueries,
    WorkflowQueries,
    ReferredThings,
    AccessibleReferences,
    { provide: AgentKeyDirectory, useClass: StoredAgentKeys },
    ...agentHandlers,
    WebhookTokens,
    DeleteWorkflowOfAgent,
    {
      provide: PublicBaseUrl,
      inject: [Config],
      useFactory: ({ publicApiBaseUrl }: Config) => new PublicBaseUrl(publicApiBaseUrl),
    },
  ],
  exports: [PublicBaseUrl, AgentQueries, AgentKeyDirectory, AccessibleReferences, ReferredThings, DeleteWorkflowOfAgent],
})
export class AgentsModule {
  static readonly rejections = agentsRejections;
  static readonly reactions = [DeleteWorkflowOfAgent];
}
