import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { job, tellOfJob } from './job.decider.js';
import { type JobId, jobStream, type ToldBy } from './job.events.js';

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
export class TellOfJobHandler implements ICommandHandler<TellOfJob> {
  constructor(private readonly streams: Streams) {}

  async execute({ jobId, by, cause }: TellOfJob): Promise<void> {
    await this.streams.transact(jobStream(jobId), job, tellOfJob(by), cause);
  }
}
