import { Module } from '@nestjs/common';
import { ScheduleQueries } from '../../../../projections/schedules/schedules.queries.js';
import { ChatSchedules } from './chat-schedules.port.js';
import { StoredChatSchedules } from './stored-chat-schedules.js';

/** What tools of chats know of schedules. It stands apart because schedules run agents, and agents use tools. */
@Module({
  providers: [ScheduleQueries, { provide: ChatSchedules, useClass: StoredChatSchedules }],
  exports: [ChatSchedules],
})
export class ChatSchedulesModule {}
