import { Module } from '@nestjs/common';
import { AgentNameQueries } from '../../../projections/agents/agent-names.queries.js';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { AnalyticsQueries } from '../../../projections/analytics/analytics.queries.js';
import { ConversationLogQueries } from '../../../projections/conversations/conversation-log.queries.js';
import { MessageAnalyticsQueries } from '../../../projections/conversations/message-analytics.queries.js';
import { RunLogQueries } from '../../../projections/runs/run-log.queries.js';
import { ScheduleAnalyticsQueries } from '../../../projections/schedules/schedule-analytics.queries.js';
import { ScheduleLogQueries } from '../../../projections/schedules/schedule-log.queries.js';
import { WorkflowRunLogQueries } from '../../../projections/workflow-runs/workflow-run-log.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import { AnalyticsController } from './analytics.http.js';
import { LogEntries } from './log-entries.js';
import { OwnAgent } from './own-agent.js';
import { UserLogsController } from './user-logs.http.js';

/** Analytics and logs for the pages of the web client. */
@Module({
  controllers: [AnalyticsController, UserLogsController],
  providers: [
    AgentNameQueries,
    AgentQueries,
    AnalyticsQueries,
    ConversationLogQueries,
    LogEntries,
    MessageAnalyticsQueries,
    OwnAgent,
    RunLogQueries,
    ScheduleAnalyticsQueries,
    ScheduleLogQueries,
    WorkflowQueries,
    WorkflowRunLogQueries,
  ],
})
export class AnalyticsModule {}
