import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Config } from '../../platform/config/config.js';
import { ConversationsController } from './conversations.http.js';
import { DeleteConversationHandler } from './delete-conversation.command.js';
import { NoteBackgroundWork } from './note-background-work.reaction.js';
import { OpenConversationHandler } from './open-conversation.command.js';
import { RateAnswerHandler } from './rate-answer.command.js';
import { RenameConversationHandler } from './rename-conversation.command.js';
import { StoredTurnAdditions } from '../journal/stored-turn-additions.js';
import { TurnAdditions } from './turn-additions.port.js';

@Module({
  controllers: [ConversationsController],
  providers: [
    ConversationQueries,
    RenameConversationHandler,
    DeleteConversationHandler,
    OpenConversationHandler,
    RateAnswerHandler,
    NoteBackgroundWork,
    {
      provide: TurnAdditions,
      inject: [EventStore, Streams, Config],
      useFactory: (store: EventStore, streams: Streams, { messageEventsRetentionSeconds }: Config) =>
        new StoredTurnAdditions(store, streams, messageEventsRetentionSeconds),
    },
  ],
  exports: [ConversationQueries, NoteBackgroundWork, TurnAdditions],
})
export class ConversationModule {}
