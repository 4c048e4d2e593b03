import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../projections/conversations/conversations.queries.js';
import { ConversationsController } from './conversations.http.js';
import { DeleteConversationHandler } from './delete-conversation.command.js';
import { OpenConversationHandler } from './open-conversation.command.js';
import { RateAnswerHandler } from './rate-answer.command.js';
import { RenameConversationHandler } from './rename-conversation.command.js';

@Module({
  controllers: [ConversationsController],
  providers: [
    ConversationQueries,
    RenameConversationHandler,
    DeleteConversationHandler,
    OpenConversationHandler,
    RateAnswerHandler,
  ],
  exports: [ConversationQueries],
})
export class ConversationModule {}
