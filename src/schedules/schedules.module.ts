import { Module } from '@nestjs/common';
import { AgentQueries } from '../../projections/agents/agents.queries.js';
import { ScheduleQueries } from '../../projections/schedules/schedules.queries.js';
import { ConversationModule } from '../conversation/conversation.module.js';
import { Config } from '../platform/config/config.js';
import { RunsModule } from '../runs/runs.module.js';
import { AdmitScheduleHandler } from './admit-schedule.command.js';
import { AgentSchedulesController } from './agent-schedules.http.js';
import { AppendScheduledAnswers } from './append-scheduled-answers.reaction.js';
import { CancelScheduleHandler } from './cancel-schedule.command.js';
import { CancelSchedulesOfConversation } from './cancel-schedules-of-conversation.reaction.js';
import { ChangeScheduleHandler } from './change-schedule.command.js';
import { CreateScheduleHandler } from './create-schedule.command.js';
import { DeleteScheduleHandler } from './delete-schedule.command.js';
import { DeleteSchedulesOfAgent } from './delete-schedules-of-agent.reaction.js';
import { DueSchedules } from './due-schedules.ticker.js';
import { EndScheduleRunHandler } from './end-schedule-run.command.js';
import { FollowScheduledRuns } from './follow-scheduled-runs.reaction.js';
import { PauseScheduleHandler } from './pause-schedule.command.js';
import { QueueScheduledRuns } from './queue-scheduled-runs.reaction.js';
import { ResumeScheduleHandler } from './resume-schedule.command.js';
import { RunScheduleNowHandler } from './run-schedule-now.command.js';
import { ScheduleTaskHandler } from './schedule-task.command.js';
import { runLimitMs } from './schedule.policy.js';
import { ScheduleRules } from './schedule-rules.js';
import { KnownModel } from './known-model.js';
import { KeptSchedulerPulse } from './kept-scheduler-pulse.js';
import { SchedulerPulse } from './scheduler-pulse.port.js';
import { SchedulesController } from './schedules.http.js';
import { SettleScheduleHandler } from './settle-schedule.command.js';

/** What agents do at set times, and the ledger of it. */
@Module({
  imports: [ConversationModule, RunsModule],
  controllers: [AgentSchedulesController, SchedulesController],
  providers: [
    AgentQueries,
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
    KnownModel,
    { provide: SchedulerPulse, useClass: KeptSchedulerPulse },
    AdmitScheduleHandler,
    CreateScheduleHandler,
    ScheduleTaskHandler,
    ChangeScheduleHandler,
    PauseScheduleHandler,
    ResumeScheduleHandler,
    CancelScheduleHandler,
    DeleteScheduleHandler,
    RunScheduleNowHandler,
    SettleScheduleHandler,
    EndScheduleRunHandler,
    DueSchedules,
    QueueScheduledRuns,
    FollowScheduledRuns,
    AppendScheduledAnswers,
    DeleteSchedulesOfAgent,
    CancelSchedulesOfConversation,
  ],
  exports: [
    SchedulerPulse,
    DueSchedules,
    QueueScheduledRuns,
    FollowScheduledRuns,
    AppendScheduledAnswers,
    DeleteSchedulesOfAgent,
    CancelSchedulesOfConversation,
  ],
})
export class SchedulesModule {}
