import { type BeforeApplicationShutdown, Module } from '@nestjs/common';
import { JobQueries } from '../../../projections/jobs/jobs.queries.js';
import { Blobs } from '../../kernel/blobs.js';
import { Clock } from '../../kernel/clock.js';
import { Ids } from '../../kernel/ids.js';
import { KeyValue } from '../../kernel/key-value.js';
import { Signals } from '../../kernel/signals.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Timing } from '../../kernel/timing.js';
import { Config } from '../../platform/config/config.js';
import { BackgroundCalls } from '../../dialogue/answering/loop/background-calls.port.js';
import { CancelJobHandler } from './cancel-job.command.js';
import { JobBook } from './job-book.port.js';
import { JobOptions } from './job-options.js';
import { JobRunner } from './job-runner.js';
import { JobsController } from './jobs.http.js';
import { StoredJobBook } from './stored-job-book.js';

/** The share of the shutdown time in which jobs in hand may still finish. */
const GRACE_SHARE = 0.25;

type Parts = [Streams, Signals, Blobs, Clock, Timing, Ids, KeyValue, JobOptions];

/** Tool calls that go on while the turns that made them do: where they run, and what is told of them. */
@Module({
  controllers: [JobsController],
  providers: [
    JobQueries,
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
      inject: [Streams, Signals, Blobs, Clock, Timing, Ids, KeyValue, JobOptions],
      useFactory: (...[streams, signals, blobs, clock, timing, ids, keyValue, options]: Parts) =>
        new JobRunner({ streams, signals, blobs, clock, timing, ids }, keyValue, options),
    },
    { provide: BackgroundCalls, useExisting: JobRunner },
    { provide: JobBook, useClass: StoredJobBook },
    CancelJobHandler,
  ],
  exports: [BackgroundCalls, JobBook, JobOptions, JobQueries],
})
export class JobsModule implements BeforeApplicationShutdown {
  constructor(
    private readonly runner: JobRunner,
    private readonly options: JobOptions,
  ) {}

  /** Turns have ended by then: they make no more jobs. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.runner.close(this.options.settings.shutdownMs * GRACE_SHARE);
  }
}
