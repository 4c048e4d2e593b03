import { CommandHandler } from '@nestjs/cqrs';
import { Blobs } from '../../kernel/blobs.js';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { Signals } from '../../kernel/messaging/signals.js';
import {
  endJob,
  purgeJob,
  type Job,
  job,
  type JobEnding,
  progressJob,
  requestCancel,
  startJob,
  reportJob,
} from './job.decider.js';
import { type CancelReason, type JobId, type JobProgress, type JobStarted, jobStream, type ReportedBy } from './job.events.js';
import { cancelSubject } from './job.policy.js';

/** Records that a call continues as a job. @throws Rejection job-exists if another process has started the job */
export class StartJob extends Command<void> {
  constructor(
    readonly started: JobStarted['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StartJob)
export class StartJobHandler implements Handler<StartJob> {
  constructor(private readonly streams: Streams) {}

  async execute({ started, cause }: StartJob): Promise<void> {
    await this.streams.transact(jobStream(started.jobId), job, startJob(started), cause);
  }
}

/** Records the progress of a job. Resolves to the new state of the job. */
export class ReportJobProgress extends Command<Folded<Job>> {
  constructor(
    readonly jobId: JobId,
    readonly progress: JobProgress,
    readonly known: Folded<Job>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ReportJobProgress)
export class ReportJobProgressHandler implements Handler<ReportJobProgress> {
  constructor(private readonly streams: Streams) {}

  execute({ jobId, progress, known, cause }: ReportJobProgress): Promise<Folded<Job>> {
    return this.streams.transact(jobStream(jobId), job, progressJob(progress), cause, known);
  }
}

/** Records how the work of a job ended, as its process reports it. */
export class EndJob extends Command<Job> {
  constructor(
    readonly jobId: JobId,
    readonly ending: JobEnding,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(EndJob)
export class EndJobHandler implements Handler<EndJob> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ jobId, ending, cause }: EndJob): Promise<Job> {
    return (await this.streams.record(jobStream(jobId), job, endJob(ending, this.clock.now()), cause)).state;
  }
}

/**
 * Requests the cancellation of a job. The job counts as cancelled once its work has really ended.
 * @throws Rejection job-not-found
 */
export class CancelJob extends Command<bigint | undefined> {
  constructor(
    readonly jobId: JobId,
    readonly ownerId: string,
    readonly reason: CancelReason,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CancelJob)
export class CancelJobHandler implements Handler<CancelJob> {
  constructor(
    private readonly streams: Streams,
    private readonly signals: Signals,
  ) {}

  async execute({ jobId, ownerId, reason, cause }: CancelJob): Promise<bigint | undefined> {
    const { position } = await this.streams.transact(jobStream(jobId), job, requestCancel(ownerId, reason), cause);
    this.signals.publish(cancelSubject(jobId), '');
    return position;
  }
}

/** Purges a job that ended before a time, and deletes its result. */
export class PurgeJob extends Command<void> {
  constructor(
    readonly jobId: JobId,
    readonly endedBefore: Date,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PurgeJob)
export class PurgeJobHandler implements Handler<PurgeJob> {
  constructor(
    private readonly streams: Streams,
    private readonly blobs: Blobs,
  ) {}

  /** Deletes the result first, so that after a crash in between the job can still be purged. */
  async execute({ jobId, endedBefore, cause }: PurgeJob): Promise<void> {
    const decision = purgeJob(endedBefore);
    const folded = await this.streams.fold(jobStream(jobId), job);
    if (decision(folded.state).length === 0) return;
    const { end } = folded.state;
    if (end?.type === 'JobCompleted') await this.blobs.delete(end.data.result.sha256);
    await this.streams.transact(jobStream(jobId), job, decision, cause, folded);
  }
}

/** Records that a job is lost: its process is gone, and no end was recorded. */
export class MarkJobLost extends Command<void> {
  constructor(
    readonly jobId: JobId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(MarkJobLost)
export class MarkJobLostHandler implements Handler<MarkJobLost> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ jobId, cause }: MarkJobLost): Promise<void> {
    await this.streams.transact(jobStream(jobId), job, endJob({ type: 'lost' }, this.clock.now()), cause);
  }
}

/** Records that the conversation has learned of a job's end, or that no report is due. */
export class ReportJob extends Command<void> {
  constructor(
    readonly jobId: JobId,
    readonly by: ReportedBy,
    readonly cause: Cause,
    readonly known?: Folded<Job>,
  ) {
    super();
  }
}

@CommandHandler(ReportJob)
export class ReportJobHandler implements Handler<ReportJob> {
  constructor(private readonly streams: Streams) {}

  async execute({ jobId, by, cause, known }: ReportJob): Promise<void> {
    await this.streams.transact(jobStream(jobId), job, reportJob(by), cause, known);
  }
}

export const jobHandlers = [
  CancelJobHandler,
  EndJobHandler,
  PurgeJobHandler,
  MarkJobLostHandler,
  ReportJobProgressHandler,
  StartJobHandler,
  ReportJobHandler,
];
