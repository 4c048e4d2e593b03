import { Injectable } from '@nestjs/common';
import { Blobs } from '../../kernel/blobs.js';
import { Clock } from '../../kernel/clock.js';
import { Commands } from '../../kernel/commands.js';
import { isId } from '../../kernel/ids.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import type { ToolReport } from '../../resources/tools/toolbox/tool-kind.port.js';
import { ReportJob } from './job.commands.js';
import { type Job, job } from './job.decider.js';
import { type JobId, jobStream } from './job.events.js';
import { type JobStatus, noteOn, statusAfter } from './job.policy.js';
import { JobOptions } from './job-options.js';
import { keptResult, shownResult } from './job-result.js';

/** The status of a job as the model reads it. */
export type JobReport = Readonly<{
  job_id: JobId;
  status: JobStatus;
  action: string;
  elapsed_s: number;
  progress?: ToolReport;
  output_tail?: string;
  result?: unknown;
  error?: string;
  note: string;
}>;

/** The user and the conversation for which a job is checked. */
type JobAsker = Readonly<{ ownerId: string; conversationId: string; cause: Cause }>;

/**
 * Reports the status of a conversation's jobs to the model, from their streams. No follow-up is sent for an end that the model
 * has read here.
 */
@Injectable()
export class JobBook {
  /** Whether background jobs are enabled. */
  readonly isKept: boolean;

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly blobs: Blobs,
    private readonly clock: Clock,
    { settings }: JobOptions,
  ) {
    this.isKept = settings.enabled;
  }

  /** The status of a job; undefined if the conversation has no such job. */
  async check(jobId: string, { ownerId, conversationId, cause }: JobAsker): Promise<JobReport | undefined> {
    if (!isId(jobId)) return undefined;
    const folded = await this.streams.fold(jobStream(jobId), job);
    const { started, purged, end } = folded.state;
    if (!started || purged || started.ownerId !== ownerId || started.conversationId !== conversationId) return undefined;
    const report = await this.reportOn(folded.state, started);
    // Passes the state that the report was made from, because an end that was recorded meanwhile is not in the report.
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
