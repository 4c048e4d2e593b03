import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { type FinishedJob, JobQueries } from '../../../projections/jobs/jobs.queries.js';
import { Clock } from '../../kernel/clock.js';
import { eachOf } from '../../kernel/each-of.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../work/retention/retention-rule.port.js';
import { PurgeJob } from './job.commands.js';
import { JobOptions } from './job-options.js';

/** Purges jobs after the retention time of their results. */
@Injectable()
export class PurgeJobs implements RetentionRule<FinishedJob> {
  readonly name = 'background jobs';

  constructor(
    private readonly jobs: JobQueries,
    private readonly commands: Commands,
    private readonly clock: Clock,
    private readonly options: JobOptions,
  ) {}

  due(now: Date, limit: number, after?: FinishedJob): Promise<readonly FinishedJob[]> {
    return this.jobs.finishedBefore(this.keptSince(now), limit, after);
  }

  purge(due: readonly FinishedJob[], cause: Cause): Promise<void> {
    const keptSince = this.keptSince(this.clock.now());
    return eachOf(due, ({ id }) => this.commands.execute(new PurgeJob(id, keptSince, cause)));
  }

  private keptSince(now: Date): Date {
    return new Date(now.getTime() - this.options.settings.retentionMs);
  }
}
