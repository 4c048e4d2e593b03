import { Injectable } from '@nestjs/common';
import { Blobs } from '../../kernel/blobs.js';
import { Clock } from '../../kernel/clock.js';
import { Commands } from '../../kernel/commands.js';
import { isId } from '../../kernel/ids.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { ReportJob } from './job.commands.js';
import { type Job, job } from './job.decider.js';
import { jobStream } from './job.events.js';
import { noteOn, statusAfter } from './job.policy.js';
import { type JobAsker, JobBook, type JobReport } from './job-book.port.js';
import { JobOptions } from './job-options.js';
import { keptResult, shownResult } from './job-result.js';

/** Jobs from their streams: what was stated a moment ago counts. */
@Injectable()
export class StoredJobBook extends JobBook {
  readonly isKept: boolean;

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly blobs: Blobs,
    private readonly clock: Clock,
    { settings }: JobOptions,
  ) {
    super();
    this.isKept = settings.enabled;
  }

  async check(jobId: string, { ownerId, conversationId, cause }: JobAsker): Promise<JobReport | undefined> {
    if (!isId(jobId)) return undefined;
    const folded = await this.streams.fold(jobStream(jobId), job);
    const { started, purged, end } = folded.state;
    if (!started || purged || started.ownerId !== ownerId || started.conversationId !== conversationId) return undefined;
    const report = await this.reportOn(folded.state, started);
    // An end that comes meanwhile is not in the report.
    if (end) await this.commands.execute(new ReportJob(jobId, 'model', cause, folded));
    return report;
  }

  private async reportOn({ end, cancelRequested, progress }: Job, started: NonNullable<Job['started']>): Promise<JobReport> {
    const status = statusAfter(end);
    const until = end ? Date.parse(end.data.endedAt) : this.clock.now().getTime();
    const kept = end?.type === 'JobCompleted' ? await keptResult(this.blobs, end.data.result) : undefined;
    return {
      job_id: started.jobId,
      status,
      action: started.actionName,
      elapsed_s: Math.round((until - Date.parse(started.begunAt)) / 1000),
      ...(progress && { progress: progress.report }),
      ...(progress?.outputTail && { output_tail: progress.outputTail }),
      ...(kept && { result: shownResult(kept.value) }),
      ...(end?.type === 'JobFailed' && { error: end.data.error }),
      note: noteOn(status, started.hasEffects, cancelRequested !== null),
    };
  }
}
