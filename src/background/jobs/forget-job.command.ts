import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Blobs } from '../../kernel/blobs.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { forgetJob, job } from './job.decider.js';
import { type JobId, jobStream } from './job.events.js';

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
export class ForgetJobHandler implements ICommandHandler<ForgetJob> {
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
