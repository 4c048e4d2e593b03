import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { ConversationsController } from './conversations.http.js';
import {
  DeleteConversationHandler,
  OpenConversationHandler,
  RateAnswerHandler,
  RenameConversationHandler,
} from './conversation.commands.js';
import { NoteBackgroundWorkHandler } from './background-work.commands.js';
import { conversationRejections } from './conversation.rejections.js';

@Module({
  controllers: [ConversationsController],
  providers: [
    ConversationQueries,
    RenameConversationHandler,
    DeleteConversationHandler,
    OpenConversationHandler,
    RateAnswerHandler,
    NoteBackgroundWorkHandler,
  ],
  exports: [ConversationQueries],
})
export class ConversationModule {
  static readonly rejections = conversationRejections;
}
