import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { Config } from '../../platform/config/config.js';
import { AttachmentsModule } from '../../resources/attachments/attachments.module.js';
import { AskedQuestions } from './asking/asked-questions.js';
import { AttachedUploads } from './asking/attached-uploads.js';
import { ChatAnswers } from './chat-answers.js';
import { ChatCompletionsController } from './chat-completions.http.js';
import { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { DeletedResponses } from './responses/deleted-responses.js';
import { ExpireResponsesOfConversation } from './responses/expire-responses-of-conversation.reaction.js';
import { PurgeResponses } from './responses/purge-responses.js';
import { responseHandlers } from './responses/response.commands.js';
import { responsePurges } from './responses/response.purges.js';
import { ResponseEndings } from './responses/response-endings.js';
import { Responses } from './responses/responses.js';
import { ResponsesController } from './responses/responses.http.js';
import { ModelsController } from './models.http.js';
import { OpenAiOptions } from './asking/openai-options.js';
import { openAiRejections } from './openai.rejections.js';

const REACTIONS = [ExpireResponsesOfConversation];
const RETENTION = [PurgeResponses];

/** OpenAI's API: models, chat completions and responses. */
@Module({
  imports: [AnsweringModule, AttachmentsModule],
  controllers: [ModelsController, ChatCompletionsController, ResponsesController],
  providers: [
    ...REACTIONS,
    ...RETENTION,
    ...responseHandlers,
    DeletedResponses,
    ExpiringQueries,
    ResponseEndings,
    Responses,
    AgentQueries,
    AskedQuestions,
    AttachedUploads,
    ChatAnswers,
    {
      provide: OpenAiOptions,
      inject: [Config],
      useFactory: ({ sseConnectionsMax, messageEventsRetentionSeconds }: Config) =>
        new OpenAiOptions(sseConnectionsMax, messageEventsRetentionSeconds),
    },
  ],
  exports: [...REACTIONS, ...RETENTION],
})
export class OpenAiModule {
  static readonly reactions = REACTIONS;
  static readonly retention = RETENTION;
  static readonly purges = responsePurges;
  static readonly rejections = openAiRejections;
}
