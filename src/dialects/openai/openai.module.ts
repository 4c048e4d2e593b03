import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { ModelsController } from './models.http.js';

/** What clients of OpenAI's API send, and read. */
@Module({
  controllers: [ModelsController],
  providers: [AgentQueries],
})
export class OpenAiModule {}
