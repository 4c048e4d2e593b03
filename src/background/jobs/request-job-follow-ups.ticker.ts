import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { JobQueries, type JobRecord } from '../../../projections/jobs/jobs.queries.js';
import { UnsealedTurnQueries } from '../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { Blobs } from '../../kernel/blobs.js';
import { eachOf } from '../../kernel/each-of.js';
import { Failures } from '../../kernel/failures.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore, lastEvent } from '../../kernel/event-sourcing/event-store.js';
import { type Cause, causedBy } from '../../kernel/event-sourcing/events.js';
import type { Ticker } from '../../kernel/event-sourcing/ticker.js';
import { FollowUps } from '../follow-ups/follow-ups.port.js';
import { jobCodec } from './job.codec.js';
import { type JobId, jobStream } from './job.events.js';
import { followUpKey, followUpText } from './job.policy.js';
import { keptResult, shownResult } from './job-result.js';
import { textOf } from '../../dialogue/answering/loop/tool-result.policy.js';
import { ReportJob } from './job.commands.js';

const EVERY_MS = 1_000;
/** Maximum number of jobs that one tick reports. The others follow in the next tick. */
export const REPORTS_PER_TICK_MAX = 200;
const JOBS_PER_PAGE = 200;
/** Maximum length of a result in a follow-up, which has further text around it. */
const FOLLOW_UP_RESULT_CHARACTERS_MAX = 7_000;

const idOf = ({ jobId }: JobRecord): JobId => jobId;

/**
 * Requests follow-ups for ended jobs whose end the model has not read yet. Skips conversations with a running turn, because the
 * model may still check the job. Steps for each job: request the follow-up, which is idempotent by its key; record that the job
 * was reported. After a crash in between both are repeated.
 */
@Injectable()
export class RequestJobFollowUps implements Ticker {
  readonly name = 'request-job-follow-ups';
  readonly everyMs = EVERY_MS;
  /** The jobs that could not be reported. */
  private readonly failures = new Failures();

  constructor(
    private readonly jobs: JobQueries,
    private readonly turns: UnsealedTurnQueries,
    private readonly blobs: Blobs,
    private readonly followUps: FollowUps,
    private readonly commands: Commands,
    private readonly store: EventStore,
  ) {}

  async tick(): Promise<void> {
    const due = await this.due(this.failures.pageFor(REPORTS_PER_TICK_MAX));
    this.failures.retain(due.map(idOf));
    const next = this.failures.next(due, idOf, REPORTS_PER_TICK_MAX);
    // Sequential, so that jobs are reported in the order in which they ended.
    await eachOf(next, (job) => this.failures.attempt(job.jobId, () => this.request(job)), 1);
  }

  /** Ended jobs whose conversations have no running turn. Reads as many pages as needed to find them. */
  private async due(most: number): Promise<readonly JobRecord[]> {
    const due: JobRecord[] = [];
    let page: readonly JobRecord[] = [];
    do {
      page = await this.jobs.unreported(JOBS_PER_PAGE, page.at(-1));
      const busy = await this.turns.conversationsUnderWay(page.map(({ conversationId }) => conversationId));
      due.push(...page.filter(({ conversationId }) => !busy.has(conversationId)));
    } while (page.length === JOBS_PER_PAGE && due.length < most);
    return due.slice(0, most);
  }

  private async request(job: JobRecord): Promise<void> {
    const { jobId, conversationId, ownerId, status } = job;
    const cause = await this.causeOf(jobId);
    const source = status === 'lost' ? 'lost' : 'job';
    const followUp = {
      conversationId,
      ownerId,
      source,
      refId: jobId,
      dedupeKey: followUpKey(jobId),
      text: await this.textOn(job),
    } as const;
    const isRequested = await this.followUps.request(followUp, cause);
    await this.commands.execute(new ReportJob(jobId, isRequested ? 'follow-up' : 'none', cause));
  }

  /** The end of the job is the cause. */
  private async causeOf(jobId: JobId): Promise<Cause> {
    const ended = await lastEvent(this.store, jobStream(jobId));
    return causedBy(decode(jobCodec, ended!)!, `system:${this.name}`);
  }

  private async textOn(job: JobRecord): Promise<string> {
    const kept = job.result ? await keptResult(this.blobs, job.result) : undefined;
    const result = kept && textOf(shownResult(kept.value, FOLLOW_UP_RESULT_CHARACTERS_MAX));
    return followUpText(job, result ?? null);
  }
}
