import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { ConversationSearchQueries } from '../../../projections/conversations/conversation-search.queries.js';
import { ConversationsController } from './conversations.http.js';
import { conversationHandlers } from './conversation.commands.js';
import { AppendTurnHandler, NoteBackgroundWorkHandler } from './additions.commands.js';
import { ConversationGuard } from './conversation-guard.js';
import { EarlierTurns } from './earlier-turns.port.js';
import { ReadModelEarlierTurns } from './read-model-earlier-turns.js';
import { conversationRejections } from './conversation.rejections.js';
import { pauseHandlers } from './pause.commands.js';
import { AskAutomaticTurnHandler, turnHandlers } from './turn.commands.js';
import { conversationNotifications } from './conversation.notifications.js';

@Module({
  controllers: [ConversationsController],
  providers: [
    ConversationQueries,
    ConversationSearchQueries,
    { provide: EarlierTurns, useClass: ReadModelEarlierTurns },
    ConversationGuard,
    ...conversationHandlers,
    NoteBackgroundWorkHandler,
    ...turnHandlers,
    ...pauseHandlers,
    AppendTurnHandler,
    AskAutomaticTurnHandler,
  ],
  exports: [ConversationQueries, ConversationGuard, EarlierTurns],
})
export class ConversationModule {
  static readonly rejections = conversationRejections;
  static readonly notifications = conversationNotifications;
}
