import {
  type BeforeApplicationShutdown,
  Global,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Logger } from 'pino';
import { projections } from '../../projections/catalogue.js';
import { schemaOf } from '../../projections/projection.js';
import { AnsweringModule } from '../dialogue/answering/answering.module.js';
import { ContinuationRetentionModule } from '../dialogue/answering/runner/continuation-retention.module.js';
import { ExpirePauses } from '../dialogue/answering/runner/expire-pauses.ticker.js';
import { SweepTurns } from '../dialogue/answering/runner/sweep-turns.ticker.js';
import { TitleConversation } from '../dialogue/answering/title-conversation.reaction.js';
import { AttachmentsModule } from '../resources/attachments/attachments.module.js';
import { QueueParsing } from '../resources/attachments/queue-parsing.reaction.js';
import { ConversationModule } from '../dialogue/conversation/conversation.module.js';
import { NoteBackgroundWork } from '../dialogue/conversation/note-background-work.reaction.js';
import { DemoModule } from '../views/demo/demo.module.js';
import { DemoSeeding } from '../views/demo/demo-seeding.js';
import { EndJobsOfConversation } from '../background/jobs/end-jobs-of-conversation.reaction.js';
import { JobEndsModule } from '../background/jobs/job-ends.module.js';
import { LoseJobs } from '../background/jobs/lose-jobs.ticker.js';
import { WakeForJobs } from '../background/jobs/wake-for-jobs.ticker.js';
import { Clock } from '../kernel/clock.js';
import { Conditions, Measurements } from '../kernel/conditions.js';
import { Freshness } from '../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../kernel/event-sourcing/reaction.js';
import type { Ticker } from '../kernel/event-sourcing/ticker.js';
import { Timing } from '../kernel/timing.js';
import { CancelMonitorsOfConversation } from '../triggers/monitors/cancel-monitors-of-conversation.reaction.js';
import { CheckMonitors } from '../triggers/monitors/checks/check-monitors.ticker.js';
import { MonitorsModule } from '../triggers/monitors/monitors.module.js';
import { WakeConversationsOfMonitors } from '../triggers/monitors/wake-conversations-of-monitors.reaction.js';
import { spaceImpairment } from '../platform/free-space.js';
import type { Platform } from './platform.js';
import { LOG, PLATFORM } from './platform.module.js';
import { PostgresFreshness } from '../platform/projections/postgres-freshness.js';
import { Progress } from '../platform/projections/progress.js';
import { ProjectionFaults } from '../platform/projections/projection-faults.js';
import { Projector } from '../platform/projections/projector.js';
import { untilTablesAreThere } from '../platform/projections/schema.js';
import { Reactions } from '../platform/reactions/reactions.js';
import { PrometheusMeasurements } from '../platform/telemetry/prometheus-measurements.js';
import { ServiceConditions } from '../platform/telemetry/service-conditions.js';
import { Tickers } from '../platform/tickers/tickers.js';
import { PublishUserEvents } from '../views/notifications/publish-user-events.reaction.js';
import { RealtimeModule } from '../views/notifications/realtime.module.js';
import { ApplyRetention } from '../work/retention/apply-retention.ticker.js';
import { CutOffForgotten } from '../work/retention/cut-off-forgotten.reaction.js';
import { RetentionModule } from '../work/retention/retention.module.js';
import { AppendScheduledAnswers } from '../triggers/schedules/runs/append-scheduled-answers.reaction.js';
import { CancelSchedulesOfConversation } from '../triggers/schedules/cancel-schedules-of-conversation.reaction.js';
import { DeleteSchedulesOfAgent } from '../triggers/schedules/delete-schedules-of-agent.reaction.js';
import { DueSchedules } from '../triggers/schedules/due-schedules.ticker.js';
import { FollowScheduledRuns } from '../triggers/schedules/runs/follow-scheduled-runs.reaction.js';
import { ForgetScheduledRuns } from '../triggers/schedules/runs/forget-scheduled-runs.reaction.js';
import { QueueScheduledRuns } from '../triggers/schedules/runs/queue-scheduled-runs.reaction.js';
import { ScheduleRetentionModule } from '../triggers/schedules/runs/schedule-retention.module.js';
import { SchedulesModule } from '../triggers/schedules/schedules.module.js';
import { ForgetChunks } from '../resources/sources/chunks/forget-chunks.reaction.js';
import { QueueIngestion } from '../resources/sources/queue-ingestion.reaction.js';
import { SourcesModule } from '../resources/sources/sources.module.js';
import { SyncSources } from '../resources/sources/sync-sources.ticker.js';
import { ForgetTasksOfRuns } from '../work/tasks/forget-tasks-of-runs.reaction.js';
import { SweepTasks } from '../work/tasks/sweep-tasks.ticker.js';
import { TasksModule } from '../work/tasks/tasks.module.js';
import { TellOfFailedTasks } from '../work/tasks/tell-of-failed-tasks.reaction.js';
import { workerCheck } from '../work/tasks/worker-presence.js';
import { ForgetSecrets } from '../resources/tools/toolbox/forget-secrets.reaction.js';
import { ForgetSignInSecrets } from '../resources/tools/mcp/forget-sign-in-secrets.reaction.js';
import { SignInRetentionModule } from '../resources/tools/mcp/sign-in-retention.module.js';
import { ToolsModule } from '../resources/tools/tools.module.js';
import { DeliverWakes } from '../background/follow-ups/deliver-wakes.ticker.js';
import { WakeDeliveryModule } from '../background/follow-ups/wake-delivery.module.js';
import { WakeRetentionModule } from '../background/follow-ups/wake-retention.module.js';
import { RunDeliveries } from '../triggers/webhooks/run-deliveries.reaction.js';
import { WebhooksModule } from '../triggers/webhooks/webhooks.module.js';

type ProjectorParts = [Platform, Progress, Timing, Logger, ProjectionFaults];

/** What goes on whether anybody asks or not: read models are filled, events reacted to, and time passes. */
@Global()
@Module({
  imports: [
    AnsweringModule,
    AttachmentsModule,
    ContinuationRetentionModule,
    ConversationModule,
    DemoModule,
    MonitorsModule,
    JobEndsModule,
    RealtimeModule,
    RetentionModule,
    ScheduleRetentionModule,
    SchedulesModule,
    SignInRetentionModule,
    SourcesModule,
    TasksModule,
    ToolsModule,
    WakeDeliveryModule,
    WakeRetentionModule,
    WebhooksModule,
  ],
  providers: [
    {
      provide: Progress,
      inject: [Timing],
      useFactory: (timing: Timing) => new Progress(timing),
    },
    {
      provide: Freshness,
      inject: [PLATFORM, Progress, Timing],
      useFactory: ({ sql, store, config }: Platform, progress: Progress, timing: Timing) =>
        new PostgresFreshness(sql, projections, progress, store, timing, config.freshnessWaitMs),
    },
    {
      provide: ProjectionFaults,
      inject: [PLATFORM],
      useFactory: ({ keyValue }: Platform) => new ProjectionFaults(keyValue),
    },
    {
      provide: Projector,
      inject: [PLATFORM, Progress, Timing, LOG, ProjectionFaults],
      useFactory: (...[{ sql, store }, progress, timing, log, faults]: ProjectorParts) =>
        new Projector({ sql, store, progress, timing, log, faults }, projections),
    },
    {
      provide: Reactions,
      inject: [
        PLATFORM,
        Timing,
        LOG,
        TitleConversation,
        NoteBackgroundWork,
        QueueIngestion,
        ForgetChunks,
        QueueParsing,
        RunDeliveries,
        TellOfFailedTasks,
        PublishUserEvents,
        QueueScheduledRuns,
        FollowScheduledRuns,
        ForgetScheduledRuns,
        ForgetTasksOfRuns,
        CutOffForgotten,
        ForgetSecrets,
        ForgetSignInSecrets,
        AppendScheduledAnswers,
        DeleteSchedulesOfAgent,
        CancelSchedulesOfConversation,
        EndJobsOfConversation,
        CancelMonitorsOfConversation,
        WakeConversationsOfMonitors,
      ],
      useFactory: ({ sql, store }: Platform, timing: Timing, log: Logger, ...reactions: Reaction[]) =>
        new Reactions({ sql, store, timing, log }, reactions),
    },
    {
      provide: Tickers,
      inject: [
        Clock,
        Timing,
        LOG,
        SweepTurns,
        ExpirePauses,
        SweepTasks,
        DueSchedules,
        SyncSources,
        ApplyRetention,
        DeliverWakes,
        CheckMonitors,
        LoseJobs,
        WakeForJobs,
      ],
      useFactory: (clock: Clock, timing: Timing, log: Logger, ...tickers: Ticker[]) => new Tickers(tickers, clock, timing, log),
    },
    {
      provide: Conditions,
      inject: [PLATFORM, Projector, Reactions, ProjectionFaults, DemoSeeding],
      useFactory: (
        { config, sql, store, keyValue, checks }: Platform,
        projector: Projector,
        reactions: Reactions,
        faults: ProjectionFaults,
        demo: DemoSeeding,
      ) => {
        const readinessChecks = [
          workerCheck(keyValue),
          async () => demo.impairment(),
          async () => spaceImpairment(config.dataDir),
        ];
        const followers = { projections, projector, reactions, faults: () => faults.all() };
        return new ServiceConditions({ sql, store, checks, ...followers, readinessChecks });
      },
    },
    {
      provide: PrometheusMeasurements,
      inject: [Conditions],
      useFactory: (conditions: Conditions) => new PrometheusMeasurements(conditions),
    },
    { provide: Measurements, useExisting: PrometheusMeasurements },
  ],
  exports: [Freshness, Conditions, Measurements, PrometheusMeasurements],
})
export class BackgroundModule implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    @Inject(PLATFORM) private readonly platform: Platform,
    @Inject(LOG) private readonly log: Logger,
    private readonly projector: Projector,
    private readonly reactions: Reactions,
    private readonly tickers: Tickers,
    private readonly timing: Timing,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { roles } = this.platform.config;
    if (roles.includes('projector')) await this.projector.start();
    // Nobody is answered, and nothing ticks, before the read models have their tables.
    const onMissing = (schema: string) => this.log.warn(`The tables of ${schema} are not there: a projector is waited for`);
    await untilTablesAreThere(this.platform.sql, projections.map(schemaOf), onMissing, this.timing);
    if (roles.includes('worker')) {
      this.reactions.start();
      this.tickers.start();
    }
  }

  /** Nothing new is begun while requests in hand finish, but they can still read what they wrote. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.tickers.stop(), this.reactions.stop()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.projector.stop();
  }
}
