import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { JournalModule } from '../../dialogue/journal/journal.module.js';
import { Config } from '../../platform/config/config.js';
import { RunsModule } from '../../background/runs/runs.module.js';
import { AdmitScheduleHandler } from './allowance/allowance.commands.js';
import { AgentSchedulesController } from './agent-schedules.http.js';
import { AppendScheduledAnswers } from './runs/append-scheduled-answers.reaction.js';
import { scheduleHandlers } from './schedule/schedule.commands.js';
import { slotLedgerHandlers } from './schedule/slot-ledger.commands.js';
import { CancelSchedulesOfConversation } from './cancel-schedules-of-conversation.reaction.js';
import { DeleteSchedulesOfAgent } from './delete-schedules-of-agent.reaction.js';
import { DefinitionGuard } from './schedule/definition-guard.js';
import { DueSchedules } from './due-schedules.ticker.js';
import { FollowScheduledRuns } from './runs/follow-scheduled-runs.reaction.js';
import { QueueScheduledRuns } from './runs/queue-scheduled-runs.reaction.js';
import { runLimitMs } from './schedule/schedule.policy.js';
import { ScheduleRules } from './schedule/schedule-rules.js';
import { ModelLookup } from './model-lookup.js';
import { KeyValueSchedulerHeartbeat } from './key-value-scheduler-heartbeat.js';
import { SchedulerHeartbeat } from './scheduler-heartbeat.port.js';
import { SchedulesController } from './schedules.http.js';
import { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { Commands } from '../../kernel/commands.js';
import { scheduledRunHandlers } from './runs/scheduled-run.commands.js';
import { PurgeOldOutput } from './runs/purge-old-output.js';
import { ChatSchedules } from './tool/chat-schedules.port.js';
import { StoredChatSchedules } from './tool/stored-chat-schedules.js';
import { PurgeScheduledRuns } from './runs/purge-scheduled-runs.reaction.js';
import { SchedulerTool } from './tool/scheduler-tool.js';
import { schedulesRejections } from './schedules.rejections.js';
import { scheduledRunPurges } from './runs/scheduled-run.purges.js';
import { scheduleNotifications } from './schedule/schedule.notifications.js';

const REACTIONS = [
  QueueScheduledRuns,
  FollowScheduledRuns,
  PurgeScheduledRuns,
  AppendScheduledAnswers,
  DeleteSchedulesOfAgent,
  CancelSchedulesOfConversation,
];
const TICKERS = [DueSchedules];
const RETENTION = [PurgeOldOutput];
const TOOL_KINDS = [SchedulerTool];

/** Runs agents at set times and keeps a ledger of the slots. */
@Module({
  imports: [AnsweringModule, JournalModule, RunsModule],
  controllers: [AgentSchedulesController, SchedulesController],
  providers: [
    ...REACTIONS,
    ...TICKERS,
    ...TOOL_KINDS,
    AgentQueries,
    ConversationQueries,
    DefinitionGuard,
    ExpiringQueries,
    ScheduleQueries,
    {
      provide: ScheduleRules,
      inject: [Config],
      useFactory: (config: Config): ScheduleRules => ({
        misfireGraceMs: config.scheduleMisfireGraceMs,
        missedAfterMs: config.missedSlotDelayMs,
        runLimitMs: runLimitMs(config.scheduleRunTimeoutMs),
        runTimeoutMs: config.scheduleRunTimeoutMs,
        failuresMax: config.scheduleAutopauseFailures,
        cadenceSecondsMin: config.scheduleMinIntervalSeconds,
        horizonMs: config.scheduleOnceHorizonMs,
        perUserMax: config.schedulesPerUserMax,
      }),
    },
    ModelLookup,
    { provide: ChatSchedules, useClass: StoredChatSchedules },
    {
      provide: PurgeOldOutput,
      inject: [Config, ExpiringQueries, Commands],
      useFactory: ({ scheduleRunOutputRetentionSeconds }: Config, ...parts: [ExpiringQueries, Commands]) =>
        new PurgeOldOutput(...parts, 1000 * scheduleRunOutputRetentionSeconds),
    },
    { provide: SchedulerHeartbeat, useClass: KeyValueSchedulerHeartbeat },
    AdmitScheduleHandler,
    ...scheduleHandlers,
    ...slotLedgerHandlers,
    ...scheduledRunHandlers,
  ],
  exports: [...REACTIONS, ...TICKERS, ...RETENTION, ...TOOL_KINDS, SchedulerHeartbeat],
})
export class SchedulesModule {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
  static readonly retention = RETENTION;
  static readonly toolKinds = TOOL_KINDS;
  static readonly rejections = schedulesRejections;
  static readonly purges = scheduledRunPurges;
  static readonly notifications = scheduleNotifications;
}
