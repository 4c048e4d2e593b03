import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { endJob, job } from './job.decider.js';
import { type JobId, jobStream } from './job.events.js';

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
export class LoseJobHandler implements ICommandHandler<LoseJob> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ jobId, cause }: LoseJob): Promise<void> {
    await this.streams.transact(jobStream(jobId), job, endJob({ type: 'lost' }, this.clock.now()), cause);
  }
}
