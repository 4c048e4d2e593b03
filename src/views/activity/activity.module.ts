import { Module } from '@nestjs/common';
import { AgentNameQueries } from '../../../projections/agents/agent-names.queries.js';
import { ConversationActivityQueries } from '../../../projections/conversations/conversation-activity.queries.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { JobHistoryQueries } from '../../../projections/jobs/job-history.queries.js';
import { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { RunQueries } from '../../../projections/runs/runs.queries.js';
import { ScheduleActivityQueries } from '../../../projections/schedules/schedule-activity.queries.js';
import { ScheduleHistoryQueries } from '../../../projections/schedules/schedule-history.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { MonitorFollowUpQueries } from '../../../projections/follow-ups/monitor-follow-ups.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import { WorkflowRunHistoryQueries } from '../../../projections/workflow-runs/workflow-run-history.queries.js';
import { WorkflowRunQueries } from '../../../projections/workflow-runs/workflow-runs.queries.js';
import { Config } from '../../platform/config/config.js';
import { SchedulesModule } from '../../triggers/schedules/schedules.module.js';
import { ActivityController } from './activity.http.js';
import { ActivityRules } from './activity-rules.js';
import { CurrentActivity } from './current-activity.js';
import { PlannedActivity } from './planned-activity.js';
import { WorkflowNames } from './workflow-names.js';
import { RunHistory } from './run-history.js';

/** The past, current and planned activity of a user, from the read models. */
@Module({
  imports: [SchedulesModule],
  controllers: [ActivityController],
  providers: [
    AgentNameQueries,
    ConversationActivityQueries,
    ConversationQueries,
    JobHistoryQueries,
    MonitorQueries,
    RunQueries,
    ScheduleActivityQueries,
    ScheduleHistoryQueries,
    SourceQueries,
    MonitorFollowUpQueries,
    WorkflowQueries,
    WorkflowRunQueries,
    WorkflowRunHistoryQueries,
    WorkflowNames,
    CurrentActivity,
    PlannedActivity,
    RunHistory,
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
