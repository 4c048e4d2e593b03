import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { Config } from '../../platform/config/config.js';
import { SourcesModule } from '../../resources/sources/sources.module.js';
import { AgentAnswers } from './agent-answers.js';
import { AgentTools } from './agent-tools.http.js';
import { McpController } from './mcp.http.js';
import { McpOptions } from './mcp-options.js';

/** Agents as tool servers of the Model Context Protocol. */
@Module({
  imports: [AnsweringModule, SourcesModule],
  controllers: [McpController],
  providers: [
    AgentQueries,
    AgentAnswers,
    AgentTools,
    {
      provide: McpOptions,
      inject: [Config],
      useFactory: ({ sseConnectionsMax, sseKeepaliveMs, serverMode }: Config) =>
        new McpOptions(sseConnectionsMax, sseKeepaliveMs, serverMode === 'async'),
    },
  ],
})
export class McpDialectModule {}
