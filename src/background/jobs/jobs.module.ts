import { type BeforeApplicationShutdown, Global, Module } from '@nestjs/common';
import { FollowUpQueries } from '../../../projections/follow-ups/follow-ups.queries.js';
import { JobQueries } from '../../../projections/jobs/jobs.queries.js';
import { Blobs } from '../../kernel/blobs.js';
import { Clock } from '../../kernel/clock.js';
import { Commands } from '../../kernel/commands.js';
import { Ids } from '../../kernel/ids.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';
import { Signals } from '../../kernel/messaging/signals.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Timing } from '../../kernel/timing.js';
import { Config } from '../../platform/config/config.js';
import { BackgroundCalls } from '../../dialogue/answering/loop/background-calls.port.js';
import { jobHandlers } from './job.commands.js';
import { JobBook } from './job-book.js';
import { JobOptions } from './job-options.js';
import { JobRunner } from './job-runner.js';
import { JobsController } from './jobs.http.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { UnsealedTurnQueries } from '../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { FollowUpsModule } from '../follow-ups/follow-ups.module.js';
import { PurgeJobs } from './purge-jobs.js';
import { EndJobsOfConversation } from './end-jobs-of-conversation.reaction.js';
import { NoteJobsInConversation } from './note-jobs-in-conversation.reaction.js';
import { ReportLostJobs } from './report-lost-jobs.ticker.js';
import { RequestJobFollowUps } from './request-job-follow-ups.ticker.js';
import { CheckJobTool } from './check-job-tool.js';
import { jobsRejections } from './jobs.rejections.js';
import { jobPurges } from './job.purges.js';
import { jobNotifications } from './job.notifications.js';

/** Running jobs may finish within this share of the shutdown time. */
const GRACE_SHARE = 0.25;

type Parts = [Streams, Commands, Signals, Blobs, Clock, Timing, Ids, KeyValue, JobOptions];

const REACTIONS = [EndJobsOfConversation, NoteJobsInConversation];
const TICKERS = [ReportLostJobs, RequestJobFollowUps];
const RETENTION = [PurgeJobs];
const TOOL_KINDS = [CheckJobTool];

/** Background jobs: long tool calls that continue while their turns continue. Global, because every turn can start one. */
@Global()
@Module({
  imports: [FollowUpsModule],
  controllers: [JobsController],
  providers: [
    ...REACTIONS,
    ...TICKERS,
    ...RETENTION,
    ...TOOL_KINDS,
    ConversationQueries,
    FollowUpQueries,
    JobQueries,
    UnsealedTurnQueries,
    {
      provide: JobOptions,
      inject: [Config],
      useFactory: (config: Config) =>
        new JobOptions({
          enabled: config.backgroundJobsEnabled,
          yieldMs: config.backgroundYieldMs,
          jobMsMax: config.backgroundJobMsMax,
          staleMs: config.backgroundStaleMs,
          perConversationMax: config.backgroundJobsPerConversationMax,
          perUserMax: config.backgroundJobsPerUserMax,
          perProcessMax: config.backgroundJobsPerProcessMax,
          autoResume: config.autoResumeEnabled,
          retentionMs: config.backgroundResultRetentionSeconds * 1000,
          shutdownMs: config.shutdownMs,
        }),
    },
    {
      provide: JobRunner,
      inject: [Streams, Commands, Signals, Blobs, Clock, Timing, Ids, KeyValue, JobOptions],
      useFactory: (...[streams, commands, signals, blobs, clock, timing, ids, keyValue, options]: Parts) =>
        new JobRunner({ streams, commands, signals, blobs, clock, timing, ids }, keyValue, options),
    },
    { provide: BackgroundCalls, useExisting: JobRunner },
    JobBook,
    ...jobHandlers,
  ],
  exports: [...REACTIONS, ...TICKERS, ...RETENTION, ...TOOL_KINDS, BackgroundCalls],
})
export class JobsModule implements BeforeApplicationShutdown {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
  static readonly retention = RETENTION;
  static readonly toolKinds = TOOL_KINDS;
  static readonly rejections = jobsRejections;
  static readonly purges = jobPurges;
  static readonly notifications = jobNotifications;

  constructor(
    private readonly runner: JobRunner,
    private readonly options: JobOptions,
  ) {}

  /** Runs after the turns have ended, so no further jobs start. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.runner.close(this.options.settings.shutdownMs * GRACE_SHARE);
  }
}
