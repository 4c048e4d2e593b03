import { Module } from '@nestjs/common';
import { ScheduleActivityQueries } from '../../projections/schedules/schedule-activity.queries.js';
import { Config } from '../platform/config/config.js';
import { SchedulesModule } from '../schedules/schedules.module.js';
import { ActivityController } from './activity.http.js';
import { ActivityRules } from './activity-rules.js';
import { PlannedActivity } from './planned-activity.js';

/** What a user has had done, has under way and has planned, as the read models tell. */
@Module({
  imports: [SchedulesModule],
  controllers: [ActivityController],
  providers: [
    ScheduleActivityQueries,
    PlannedActivity,
    {
      provide: ActivityRules,
      inject: [Config],
      useFactory: (config: Config): ActivityRules => ({
        missedAfterMs: config.missedSlotDelayMs,
        scheduleRunRetentionMs: config.scheduleRunOutputRetentionSeconds * 1000,
        traceRetentionMs: config.tracesRetentionSeconds * 1000,
        backgroundRetentionMs: config.backgroundResultRetentionSeconds * 1000,
      }),
    },
  ],
})
export class ActivityModule {}
