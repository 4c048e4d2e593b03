import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Config } from '../../platform/config/config.js';
import { TurnAdditions } from '../conversation/additions.port.js';
import { AnswerReaders } from './answer-readers.js';
import { ExpireJournalsOfHandler } from './journals.commands.js';
import { Commands } from '../../kernel/commands.js';
import { ExpireJournals } from './expire-journals.js';
import { FramePublisher } from './frame-publisher.port.js';
import { FrameTail } from './frame-tail.js';
import { JournalOptions } from './journal-options.js';
import { MessageAccess, RecentMessages } from './message-access.js';
import { MessageFeed } from './message-feed.js';
import { MessagesController } from './messages.http.js';
import { ConversationModule } from '../conversation/conversation.module.js';
import { EarlierTurns } from '../conversation/earlier-turns.port.js';
import { StoredTurnAdditions } from './stored-turn-additions.js';
import { TurnActivity } from './turn-activity.js';
import { journalPurges } from './journal.purges.js';
import { journalRejections } from './journal.rejections.js';

const RETENTION = [ExpireJournals];

type AdditionParts = [EventStore, Streams, Commands, EarlierTurns, JournalOptions];

/** Writes, reads and expires the journals of answers. */
@Module({
  imports: [ConversationModule],
  controllers: [MessagesController],
  providers: [
    {
      provide: JournalOptions,
      inject: [Config],
      useFactory: ({ serverMode, sseConnectionsMax, messageEventsRetentionSeconds }: Config) =>
        new JournalOptions(serverMode === 'async', sseConnectionsMax, messageEventsRetentionSeconds),
    },
    ...RETENTION,
    ConversationQueries,
    ExpiringQueries,
    MessageFeed,
    TurnActivity,
    ExpireJournalsOfHandler,
    { provide: FramePublisher, useExisting: MessageFeed },
    AnswerReaders,
    RecentMessages,
    FrameTail,
    MessageAccess,
    {
      provide: TurnAdditions,
      inject: [EventStore, Streams, Commands, EarlierTurns, JournalOptions],
      useFactory: (...[store, streams, commands, earlierTurns, { retentionSeconds }]: AdditionParts) =>
        new StoredTurnAdditions(store, streams, commands, earlierTurns, retentionSeconds),
    },
  ],
  exports: [...RETENTION, FramePublisher, FrameTail, MessageAccess, TurnAdditions],
})
export class JournalModule {
  static readonly retention = RETENTION;
  static readonly purges = journalPurges;
  static readonly rejections = journalRejections;
}
