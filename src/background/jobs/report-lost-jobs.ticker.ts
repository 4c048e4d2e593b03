import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { JobQueries, type JobRecord } from '../../../projections/jobs/jobs.queries.js';
import { eachOf } from '../../kernel/each-of.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore, firstEvent } from '../../kernel/event-sourcing/event-store.js';
import { causedBy } from '../../kernel/event-sourcing/events.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';
import { isHeld } from '../../kernel/messaging/lease.js';
import type { Ticker } from '../../kernel/event-sourcing/ticker.js';
import { jobCodec } from './job.codec.js';
import { type JobId, jobStream } from './job.events.js';
import { jobLease } from './job.policy.js';
import { MarkJobLost } from './job.commands.js';

const EVERY_MS = 1_000;
/** Jobs are read in pages of this size. Each tick checks all of them. */
const JOBS_PER_PAGE = 200;

/**
 * Records jobs as lost if their process no longer holds their lease. A job counts as lost only after two consecutive ticks
 * without a lease, because it may have just ended without the read model knowing yet.
 */
@Injectable()
export class ReportLostJobs implements Ticker {
  readonly name = 'report-lost-jobs';
  readonly everyMs = EVERY_MS;
  private missed: ReadonlySet<string> = new Set();

  constructor(
    private readonly jobs: JobQueries,
    private readonly keyValue: KeyValue,
    private readonly commands: Commands,
    private readonly store: EventStore,
  ) {}

  async tick(): Promise<void> {
    const alone = new Set<string>();
    let page: readonly JobRecord[] = [];
    do {
      page = await this.jobs.working(JOBS_PER_PAGE, page.at(-1));
      for (const { jobId } of page) if (!(await isHeld(this.keyValue, jobLease(jobId)))) alone.add(jobId);
    } while (page.length === JOBS_PER_PAGE);
    const lost = [...alone].filter((jobId) => this.missed.has(jobId));
    this.missed = alone;
    await eachOf(lost, (jobId) => this.markLost(jobId));
  }

  private async markLost(jobId: JobId): Promise<void> {
    const started = await firstEvent(this.store, jobStream(jobId));
    const cause = causedBy(decode(jobCodec, started!)!, `system:${this.name}`);
    await this.commands.execute(new MarkJobLost(jobId, cause));
  }
}
