import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { Config } from '../../platform/config/config.js';
import { AttachmentsModule } from '../../resources/attachments/attachments.module.js';
import { SourcesModule } from '../../resources/sources/sources.module.js';
import { AskedQuestions } from './asked-questions.js';
import { AttachedUploads } from './attached-uploads.js';
import { ChatAnswers } from './chat-answers.js';
import { ChatCompletionsController } from './chat-completions.http.js';
import { ModelsController } from './models.http.js';
import { OpenAiOptions } from './openai-options.js';
import { openAiRejections } from './openai.rejections.js';

/** What clients of OpenAI's API send, and read. */
@Module({
  imports: [AnsweringModule, AttachmentsModule, SourcesModule],
  controllers: [ModelsController, ChatCompletionsController],
  providers: [
    AgentQueries,
    AskedQuestions,
    AttachedUploads,
    ChatAnswers,
    {
      provide: OpenAiOptions,
      inject: [Config],
      useFactory: ({ sseConnectionsMax }: Config) => new OpenAiOptions(sseConnectionsMax),
    },
  ],
})
export class OpenAiModule {
  static readonly rejections = openAiRejections;
}
