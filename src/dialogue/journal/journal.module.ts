import { Module, type OnModuleInit } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Config } from '../../platform/config/config.js';
import { RetentionModule } from '../../work/retention/retention.module.js';
import { RetentionRules } from '../../work/retention/retention-rule.port.js';
import { TurnAdditions } from '../conversation/turn-additions.port.js';
import { ExpireJournalsOfHandler } from './journals.commands.js';
import { Commands } from '../../kernel/commands.js';
import { ExpireJournals } from './expire-journals.js';
import { FramePublisher } from './frame-publisher.port.js';
import { FrameTail } from './frame-tail.port.js';
import { JournalMessageAccess } from './journal-message-access.js';
import { JournalOptions } from './journal-options.js';
import { MessageAccess } from './message-access.port.js';
import { MessageFeed } from './message-feed.js';
import { MessageTail } from './message-tail.js';
import { MessagesController } from './messages.http.js';
import { StoredTurnAdditions } from './stored-turn-additions.js';
import { TurnActivity } from './turn-activity.js';
import { journalRejections } from './journal.rejections.js';

type AdditionParts = [EventStore, Streams, Commands, JournalOptions];

/** The frames of answers: who writes and reads them, and how long they are kept. */
@Module({
  imports: [RetentionModule],
  controllers: [MessagesController],
  providers: [
    {
      provide: JournalOptions,
      inject: [Config],
      useFactory: ({ serverMode, sseConnectionsMax, messageEventsRetentionSeconds }: Config) =>
        new JournalOptions(serverMode === 'async', sseConnectionsMax, messageEventsRetentionSeconds),
    },
    ConversationQueries,
    MessageFeed,
    TurnActivity,
    ExpireJournals,
    ExpireJournalsOfHandler,
    { provide: FramePublisher, useExisting: MessageFeed },
    { provide: FrameTail, useClass: MessageTail },
    { provide: MessageAccess, useClass: JournalMessageAccess },
    {
      provide: TurnAdditions,
      inject: [EventStore, Streams, Commands, JournalOptions],
      useFactory: (...[store, streams, commands, { retentionSeconds }]: AdditionParts) =>
        new StoredTurnAdditions(store, streams, commands, retentionSeconds),
    },
  ],
  exports: [FramePublisher, FrameTail, MessageAccess, TurnAdditions],
})
export class JournalModule implements OnModuleInit {
  static readonly rejections = journalRejections;

  constructor(
    private readonly retention: RetentionRules,
    private readonly journals: ExpireJournals,
  ) {}

  onModuleInit(): void {
    this.retention.add(this.journals);
  }
}
