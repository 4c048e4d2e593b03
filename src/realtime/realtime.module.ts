import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../projections/conversations/conversations.queries.js';
import { FramePublisher } from '../answering/frame-publisher.port.js';
import { FrameTail } from '../answering/frame-tail.port.js';
import { MessageAccess } from '../conversation/message-access.port.js';
import { Config } from '../platform/config/config.js';
import { JournalMessageAccess } from './journal-message-access.js';
import { MessageFeed } from './message-feed.js';
import { MessageTail } from './message-tail.js';
import { MessagesController } from './messages.http.js';
import { RealtimeOptions } from './realtime-options.js';
import { TurnActivity } from './turn-activity.js';

@Module({
  controllers: [MessagesController],
  providers: [
    {
      provide: RealtimeOptions,
      inject: [Config],
      useFactory: ({ serverMode, sseConnectionsMax }: Config) => new RealtimeOptions(serverMode === 'async', sseConnectionsMax),
    },
    ConversationQueries,
    MessageFeed,
    TurnActivity,
    { provide: FramePublisher, useExisting: MessageFeed },
    { provide: FrameTail, useClass: MessageTail },
    { provide: MessageAccess, useClass: JournalMessageAccess },
  ],
  exports: [FramePublisher, FrameTail, MessageAccess, MessageFeed],
})
export class RealtimeModule {}
