import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { JobQueries } from '../../projections/jobs/jobs.queries.js';
import type { Cause } from '../kernel/events.js';
import { newId } from '../kernel/ids.js';
import type { Ticker } from '../kernel/ticker.js';
import { ForgetJob } from './forget-job.command.js';
import { JobOptions } from './job-options.js';

const EVERY_MS = 60_000;
/** Jobs that one tick forgets; the others have their turn in the next. */
export const FORGOTTEN_JOBS_MAX = 500;

/** Forgets jobs that have been over for as long as results are kept. */
@Injectable()
export class ForgetJobs implements Ticker {
  readonly name = 'forget-jobs';
  readonly everyMs = EVERY_MS;

  constructor(
    private readonly jobs: JobQueries,
    private readonly commands: CommandBus,
    private readonly options: JobOptions,
  ) {}

  async tick(now: Date): Promise<void> {
    const before = new Date(now.getTime() - this.options.settings.retentionMs);
    const id = newId();
    const cause: Cause = { actor: `system:${this.name}`, credential: 'system', correlationId: id, causationId: id };
    for (const jobId of await this.jobs.finishedBefore(before, FORGOTTEN_JOBS_MAX)) {
      await this.commands.execute(new ForgetJob(jobId, before, cause));
    }
  }
}
