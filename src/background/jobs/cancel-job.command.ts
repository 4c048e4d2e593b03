import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Signals } from '../../kernel/signals.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { job, requestCancel } from './job.decider.js';
import { type CancelReason, type JobId, jobStream } from './job.events.js';
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
export class CancelJobHandler implements ICommandHandler<CancelJob> {
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
