import { CommandHandler } from '@nestjs/cqrs';
import { Blobs } from '../../kernel/blobs.js';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Signals } from '../../kernel/signals.js';
import { endJob, forgetJob, job, requestCancel, tellOfJob } from './job.decider.js';
import { type CancelReason, type JobId, jobStream, type ToldBy } from './job.events.js';
import { cancelSubject } from './job.policy.js';

/** A job is to end; it is cancelled once its work really has ended. */
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

/** Of a job that ended before a time nothing is shown any more, and what it came to is deleted. */
export class ForgetJob extends Command<void> {
  constructor(
    readonly jobId: JobId,
    readonly endedBefore: Date,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ForgetJob)
export class ForgetJobHandler implements Handler<ForgetJob> {
  constructor(
    private readonly streams: Streams,
    private readonly blobs: Blobs,
  ) {}

  /** The result goes first: should the process die in between, the job is still there to be forgotten. */
  async execute({ jobId, endedBefore, cause }: ForgetJob): Promise<void> {
    const decision = forgetJob(endedBefore);
    const folded = await this.streams.fold(jobStream(jobId), job);
    if (decision(folded.state).length === 0) return;
    const { end } = folded.state;
    if (end?.type === 'JobCompleted') await this.blobs.delete(end.data.result.sha256);
    await this.streams.transact(jobStream(jobId), job, decision, cause, folded);
  }
}

/** Nobody runs a job any more that nobody brought to its end. */
export class LoseJob extends Command<void> {
  constructor(
    readonly jobId: JobId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(LoseJob)
export class LoseJobHandler implements Handler<LoseJob> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ jobId, cause }: LoseJob): Promise<void> {
    await this.streams.transact(jobStream(jobId), job, endJob({ type: 'lost' }, this.clock.now()), cause);
  }
}

/** The end of a job has reached its conversation, or is not to. */
export class TellOfJob extends Command<void> {
  constructor(
    readonly jobId: JobId,
    readonly by: ToldBy,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(TellOfJob)
export class TellOfJobHandler implements Handler<TellOfJob> {
  constructor(private readonly streams: Streams) {}

  async execute({ jobId, by, cause }: TellOfJob): Promise<void> {
    await this.streams.transact(jobStream(jobId), job, tellOfJob(by), cause);
  }
}
