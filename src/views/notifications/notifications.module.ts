import { Module } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { ConnectionSlots } from './connection-slots.js';
import { PushController } from './push.http.js';
import { PublishUserEvents } from './publish-user-events.reaction.js';
import { ReplayBudget } from './replay-budget.js';
import { UserBacklog } from './user-backlog.js';
import { UserEventStream } from './user-event-stream.js';
import { UserEventsController } from './user-events.http.js';
import { UserEventsOptions } from './user-events-options.js';
import { UserFeed } from './user-feed.js';
import { UserJournal } from './user-journal.js';
import { notificationsRejections } from './notifications.rejections.js';

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

const REACTIONS = [PublishUserEvents];

@Module({
  controllers: [UserEventsController, PushController],
  providers: [
    ...REACTIONS,
    { provide: UserEventsOptions, inject: [Config], useFactory: userEventsOptions },
    ConnectionSlots,
    UserBacklog,
    UserEventStream,
    UserFeed,
    UserJournal,
    ReplayBudget,
  ],
  exports: [...REACTIONS],
})
export class NotificationsModule {
  static readonly reactions = REACTIONS;
  static readonly rejections = notificationsRejections;
}
