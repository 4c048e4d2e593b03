import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import { PromptQueries } from '../../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { AskingLinks } from '../../../resources/identity/links/asking-links.port.js';
import { EndConversationLinkHandler, ShareConversationHandler } from './conversation-link.commands.js';
import { ConversationLinksController } from './conversation-links.http.js';
import { conversationLinksRejections } from './conversation-links.rejections.js';
import { LinkTermsOf } from './link-terms.js';
import { StoredAskingLinks } from './stored-asking-links.js';

/** Links that show conversations to everyone who has the link. */
@Module({
  controllers: [ConversationLinksController],
  providers: [
    ...[ConversationQueries, AgentQueries, PromptQueries, SourceQueries],
    ...[LinkTermsOf, ShareConversationHandler, EndConversationLinkHandler],
    { provide: AskingLinks, useClass: StoredAskingLinks },
  ],
  exports: [AskingLinks],
})
export class ConversationLinksModule {
  static readonly rejections = conversationLinksRejections;
}
