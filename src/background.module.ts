import {
  type BeforeApplicationShutdown,
  Global,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Logger } from 'pino';
import { projections } from '../projections/catalogue.js';
import { schemaOf } from '../projections/projection.js';
import { AnsweringModule } from './answering/answering.module.js';
import { ContinuationRetentionModule } from './answering/continuation-retention.module.js';
import { ExpirePauses } from './answering/expire-pauses.ticker.js';
import { SweepTurns } from './answering/sweep-turns.ticker.js';
import { TitleConversation } from './answering/title-conversation.reaction.js';
import { AttachmentsModule } from './attachments/attachments.module.js';
import { QueueParsing } from './attachments/queue-parsing.reaction.js';
import { ConversationModule } from './conversation/conversation.module.js';
import { NoteBackgroundWork } from './conversation/note-background-work.reaction.js';
import { DemoModule } from './demo/demo.module.js';
import { DemoSeeding } from './demo/demo-seeding.js';
import { EndJobsOfConversation } from './jobs/end-jobs-of-conversation.reaction.js';
import { JobEndsModule } from './jobs/job-ends.module.js';
import { LoseJobs } from './jobs/lose-jobs.ticker.js';
import { WakeForJobs } from './jobs/wake-for-jobs.ticker.js';
import { Clock } from './kernel/clock.js';
import { Conditions, Measurements } from './kernel/conditions.js';
import { Freshness } from './kernel/freshness.js';
import type { Reaction } from './kernel/reaction.js';
import type { Ticker } from './kernel/ticker.js';
import { Timing } from './kernel/timing.js';
import { CancelMonitorsOfConversation } from './monitors/cancel-monitors-of-conversation.reaction.js';
import { CheckMonitors } from './monitors/check-monitors.ticker.js';
import { MonitorsModule } from './monitors/monitors.module.js';
import { WakeConversationsOfMonitors } from './monitors/wake-conversations-of-monitors.reaction.js';
import { spaceImpairment } from './platform/free-space.js';
import type { Platform } from './platform/platform.js';
import { LOG, PLATFORM } from './platform/platform.module.js';
import { PostgresFreshness } from './platform/projections/postgres-freshness.js';
import { Progress } from './platform/projections/progress.js';
import { ProjectionFaults } from './platform/projections/projection-faults.js';
import { Projector } from './platform/projections/projector.js';
import { untilTablesAreThere } from './platform/projections/schema.js';
import { Reactions } from './platform/reactions/reactions.js';
import { PrometheusMeasurements } from './platform/telemetry/prometheus-measurements.js';
import { ServiceConditions } from './platform/telemetry/service-conditions.js';
import { Tickers } from './platform/tickers/tickers.js';
import { PublishUserEvents } from './realtime/publish-user-events.reaction.js';
import { RealtimeModule } from './realtime/realtime.module.js';
import { ApplyRetention } from './retention/apply-retention.ticker.js';
import { CutOffForgotten } from './retention/cut-off-forgotten.reaction.js';
import { RetentionModule } from './retention/retention.module.js';
import { AppendScheduledAnswers } from './schedules/append-scheduled-answers.reaction.js';
import { CancelSchedulesOfConversation } from './schedules/cancel-schedules-of-conversation.reaction.js';
import { DeleteSchedulesOfAgent } from './schedules/delete-schedules-of-agent.reaction.js';
import { DueSchedules } from './schedules/due-schedules.ticker.js';
import { FollowScheduledRuns } from './schedules/follow-scheduled-runs.reaction.js';
import { ForgetScheduledRuns } from './schedules/forget-scheduled-runs.reaction.js';
import { QueueScheduledRuns } from './schedules/queue-scheduled-runs.reaction.js';
import { ScheduleRetentionModule } from './schedules/schedule-retention.module.js';
import { SchedulesModule } from './schedules/schedules.module.js';
import { ForgetChunks } from './sources/forget-chunks.reaction.js';
import { QueueIngestion } from './sources/queue-ingestion.reaction.js';
import { SourcesModule } from './sources/sources.module.js';
import { SyncSources } from './sources/sync-sources.ticker.js';
import { ForgetTasksOfRuns } from './tasks/forget-tasks-of-runs.reaction.js';
import { SweepTasks } from './tasks/sweep-tasks.ticker.js';
import { TasksModule } from './tasks/tasks.module.js';
import { TellOfFailedTasks } from './tasks/tell-of-failed-tasks.reaction.js';
import { workerCheck } from './tasks/worker-presence.js';
import { ForgetSecrets } from './tools/forget-secrets.reaction.js';
import { ForgetSignInSecrets } from './tools/mcp/forget-sign-in-secrets.reaction.js';
import { SignInRetentionModule } from './tools/mcp/sign-in-retention.module.js';
import { ToolsModule } from './tools/tools.module.js';
import { DeliverWakes } from './wakes/deliver-wakes.ticker.js';
import { WakeDeliveryModule } from './wakes/wake-delivery.module.js';
import { WakeRetentionModule } from './wakes/wake-retention.module.js';
import { RunDeliveries } from './webhooks/run-deliveries.reaction.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

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
