import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import { ConversationModule } from '../../dialogue/conversation/conversation.module.js';
import { Config } from '../../platform/config/config.js';
import { RunsModule } from '../../background/runs/runs.module.js';
import { AdmitScheduleHandler } from './allowance/admit-schedule.command.js';
import { AgentSchedulesController } from './agent-schedules.http.js';
import { AppendScheduledAnswers } from './runs/append-scheduled-answers.reaction.js';
import { CancelScheduleHandler } from './schedule/cancel-schedule.command.js';
import { CancelSchedulesOfConversation } from './cancel-schedules-of-conversation.reaction.js';
import { ChangeScheduleHandler } from './schedule/change-schedule.command.js';
import { CreateScheduleHandler } from './schedule/create-schedule.command.js';
import { DeleteScheduleHandler } from './schedule/delete-schedule.command.js';
import { DeleteSchedulesOfAgent } from './delete-schedules-of-agent.reaction.js';
import { DueSchedules } from './due-schedules.ticker.js';
import { EndScheduleRunHandler } from './schedule/end-schedule-run.command.js';
import { FollowScheduledRuns } from './runs/follow-scheduled-runs.reaction.js';
import { PauseScheduleHandler } from './schedule/pause-schedule.command.js';
import { QueueScheduledRuns } from './runs/queue-scheduled-runs.reaction.js';
import { ResumeScheduleHandler } from './schedule/resume-schedule.command.js';
import { RunScheduleNowHandler } from './schedule/run-schedule-now.command.js';
import { ScheduleTaskHandler } from './schedule/schedule-task.command.js';
import { runLimitMs } from './schedule/schedule.policy.js';
import { ScheduleRules } from './schedule/schedule-rules.js';
import { KnownModel } from './known-model.js';
import { KeptSchedulerPulse } from './kept-scheduler-pulse.js';
import { SchedulerPulse } from './scheduler-pulse.port.js';
import { SchedulesController } from './schedules.http.js';
import { SettleScheduleHandler } from './schedule/settle-schedule.command.js';

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
