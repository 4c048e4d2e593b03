import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import { EndConversationLinkHandler, ShareConversationHandler } from './conversation-link.commands.js';
import { ConversationLinksController } from './conversation-links.http.js';
import { conversationLinksRejections } from './conversation-links.rejections.js';

/** Links that show conversations to everybody who has them. */
@Module({
  controllers: [ConversationLinksController],
  providers: [ConversationQueries, ShareConversationHandler, EndConversationLinkHandler],
})
export class ConversationLinksModule {
  static readonly rejections = conversationLinksRejections;
}
