import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { JobQueries, type JobRecord } from '../../../projections/jobs/jobs.queries.js';
import { UnsealedTurnQueries } from '../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { Blobs } from '../../kernel/blobs.js';
import { eachOf } from '../../kernel/each-of.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Ids } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { causeOfTick, type Ticker } from '../../kernel/event-sourcing/ticker.js';
import { Wakes } from '../follow-ups/wakes.port.js';
import { wakeText } from './job.policy.js';
import { keptResult, shownResult } from './job-result.js';
import { textOf } from '../../dialogue/answering/loop/tool-result.policy.js';
import { TellOfJob } from './job.commands.js';

const EVERY_MS = 1_000;
/** Jobs that one tick tells of; the others have their turn in the next. */
export const TOLD_PER_TICK_MAX = 200;
const JOBS_PER_PAGE = 200;
/** What a conversation is told of a result when it goes on by itself: a wake tells no more, and says something besides. */
const WOKEN_RESULT_CHARACTERS_MAX = 7_000;

/**
 * Has conversations go on whose jobs are over and whose models do not know it yet. While an answer is being written there, its
 * model may still ask. Steps for each job: wake the conversation, whose key for it makes a second wake none; state that it was
 * told. A crash in between repeats the wake.
 */
@Injectable()
export class WakeForJobs implements Ticker {
  readonly name = 'wake-for-jobs';
  readonly everyMs = EVERY_MS;

  constructor(
    private readonly jobs: JobQueries,
    private readonly turns: UnsealedTurnQueries,
    private readonly blobs: Blobs,
    private readonly wakes: Wakes,
    private readonly commands: Commands,
    private readonly ids: Ids,
  ) {}

  async tick(): Promise<void> {
    const cause = causeOfTick(this, this.ids.next());
    // One after the other: what ended first is told first.
    await eachOf(await this.due(), (job) => this.wake(job, cause), 1);
  }

  /** Jobs of conversations in which no answer is being written: however many are busy, the others are found. */
  private async due(): Promise<readonly JobRecord[]> {
    const due: JobRecord[] = [];
    let page: readonly JobRecord[] = [];
    do {
      page = await this.jobs.untold(JOBS_PER_PAGE, page.at(-1));
      const busy = await this.turns.conversationsUnderWay(page.map(({ conversationId }) => conversationId));
      due.push(...page.filter(({ conversationId }) => !busy.has(conversationId)));
    } while (page.length === JOBS_PER_PAGE && due.length < TOLD_PER_TICK_MAX);
    return due.slice(0, TOLD_PER_TICK_MAX);
  }

  private async wake(job: JobRecord, cause: Cause): Promise<void> {
    const { jobId, conversationId, ownerId, status } = job;
    const source = status === 'lost' ? 'lost' : 'job';
    const wake = {
      conversationId,
      ownerId,
      source,
      refId: jobId,
      dedupeKey: `job:${jobId}`,
      text: await this.textOn(job),
    } as const;
    const told = await this.wakes.wake(wake, cause).then(
      () => 'wake' as const,
      (error: unknown) => {
        // Of a conversation that is gone nobody is told anything.
        if (error instanceof Rejection && error.code === 'conversation-not-found') return 'nobody' as const;
        throw error;
      },
    );
    await this.commands.execute(new TellOfJob(jobId, told, cause));
  }

  private async textOn(job: JobRecord): Promise<string> {
    const kept = job.result ? await keptResult(this.blobs, job.result) : undefined;
    const result = kept && textOf(shownResult(kept.value, WOKEN_RESULT_CHARACTERS_MAX));
    return wakeText(job, result ?? null);
  }
}
