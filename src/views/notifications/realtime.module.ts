import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { FramePublisher } from '../../dialogue/journal/frame-publisher.port.js';
import { FrameTail } from '../../dialogue/journal/frame-tail.port.js';
import { MessageAccess } from '../../dialogue/journal/message-access.port.js';
import { Config } from '../../platform/config/config.js';
import { JournalMessageAccess } from '../../dialogue/journal/journal-message-access.js';
import { MessageFeed } from '../../dialogue/journal/message-feed.js';
import { MessageTail } from '../../dialogue/journal/message-tail.js';
import { MessagesController } from '../../dialogue/journal/messages.http.js';
import { PublishUserEvents } from './publish-user-events.reaction.js';
import { RealtimeOptions } from '../../dialogue/journal/realtime-options.js';
import { ReplayBudget } from './replay-budget.js';
import { TurnActivity } from '../../dialogue/journal/turn-activity.js';
import { UserBacklog } from './user-backlog.js';
import { UserEventStream } from './user-event-stream.js';
import { UserEventsController } from './user-events.http.js';
import { UserEventsOptions } from './user-events-options.js';
import { UserFeed } from './user-feed.js';
import { UserJournal } from './user-journal.js';

const userEventsOptions = (config: Config): UserEventsOptions =>
  new UserEventsOptions({
    realtimeRoutes: config.serverMode === 'async',
    pushEnabled: config.ssePushEnabled,
    eventsMax: config.userEventsMax,
    ageMaxMs: config.userEventsAgeMaxMs,
    replayEventsPerRequestMax: config.replayEventsPerRequestMax,
    replayRequestsPerWindowMax: config.replayRequestsPerWindowMax,
    replayWindowMs: config.replayWindowMs,
    connectionsPerUserMax: config.sseConcurrentPerUserMax,
    connectionLeaseMs: config.staleProducerMs,
    streamsMax: config.sseConnectionsMax,
  });

@Module({
  controllers: [MessagesController, UserEventsController],
  providers: [
    {
      provide: RealtimeOptions,
      inject: [Config],
      useFactory: ({ serverMode, sseConnectionsMax }: Config) => new RealtimeOptions(serverMode === 'async', sseConnectionsMax),
    },
    { provide: UserEventsOptions, inject: [Config], useFactory: userEventsOptions },
    ConversationQueries,
    MessageFeed,
    TurnActivity,
    UserBacklog,
    UserEventStream,
    UserFeed,
    UserJournal,
    ReplayBudget,
    PublishUserEvents,
    { provide: FramePublisher, useExisting: MessageFeed },
    { provide: FrameTail, useClass: MessageTail },
    { provide: MessageAccess, useClass: JournalMessageAccess },
  ],
  exports: [FramePublisher, FrameTail, MessageAccess, MessageFeed, PublishUserEvents],
})
export class RealtimeModule {}
