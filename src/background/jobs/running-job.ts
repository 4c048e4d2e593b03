import { Logger } from '@nestjs/common';
import { isErrorResult, textOf } from '../../dialogue/answering/loop/tool-result.policy.js';
import { type Blobs, BlobsUnavailable } from '../../kernel/blobs.js';
import type { Clock } from '../../kernel/clock.js';
import type { Commands } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { isDiskFull } from '../../kernel/full-disk.js';
import type { Ids } from '../../kernel/ids.js';
import type { Signals } from '../../kernel/messaging/signals.js';
import type { Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import type { Timing } from '../../kernel/timing.js';
import { ToolFailed } from '../../resources/tools/toolbox/tool-kind.port.js';
import { EndJob, ReportJobProgress } from './job.commands.js';
import { type Job, job, type JobEnding } from './job.decider.js';
import { type JobProgress, type JobStarted, jobStream } from './job.events.js';
import { shortened } from '../../kernel/cut-text.js';
import { cancelSubject, ERROR_CHARACTERS_MAX } from './job.policy.js';
import { keepResult } from './job-result.js';

/** The interval at which a job checks the log for a cancellation, whose signal may be lost, and records its progress. */
export const CANCEL_POLL_MS = 2_000;
/** After its deadline, work has this long to end before the job counts as timed out. Cancelled work has until the deadline. */
export const LATE_WORK_MS_MAX = 10_000;
/** The same limit if the process is shutting down or has lost the job's lease. */
const LEFT_WORK_MS_MAX = 500;
/** The number of attempts to store a result, and the pause between them. */
const KEEP_ATTEMPTS_MAX = 5;
const KEEP_AGAIN_MS = 1_000;
/** The append of a job's end is retried this long while the store is unavailable. After that the job will be recorded as lost. */
const END_PATIENCE_MS = 60_000;

const REASON_UNKNOWN = 'The tool failed for an unknown reason.';

/** The result or the error of a call's work. */
export type WorkResult = Readonly<{ value: unknown } | { error: unknown }>;

export type JobParts = Readonly<{
  streams: Streams;
  commands: Commands;
  signals: Signals;
  blobs: Blobs;
  clock: Clock;
  timing: Timing;
  ids: Ids;
}>;

/**
 * The work of a call in the background, with the progress that its tool reports. `begunMs`: its beginning in elapsed time, which
 * a change of the clock does not affect.
 */
export type Work = Readonly<{
  begunMs: number;
  done: Promise<WorkResult>;
  controller: AbortController;
  progress: () => JobProgress | null;
}>;

/** Reasons why work is stopped. Of two reasons the one with the higher weight is recorded. */
const WEIGHTS = { cancelled: 1, timeout: 2, lost: 3 } as const;
type Stop = keyof typeof WEIGHTS;

/** A job in the process that runs it. Watches the job until its work has ended, then records the end. */
export class RunningJob {
  /** Resolves when the end of the job is recorded, or could not be recorded. */
  readonly over: Promise<void>;
  private readonly logger = new Logger('Jobs');
  private readonly abandoned = new AbortController();
  private stop: Stop | undefined;
  private known: Folded<Job> | undefined;
  private lastReported: JobProgress | null = null;

  constructor(
    private readonly parts: JobParts,
    private readonly started: JobStarted['data'],
    private readonly work: Work,
    private readonly cause: Cause,
  ) {
    // The answer may have been stopped while its call was becoming a job.
    const { signal } = work.controller;
    if (signal.aborted) this.end(signal.reason === 'stopped' ? 'cancelled' : 'lost');
    this.over = this.follow();
  }

  /** Abandons the job, because the process shuts down or has lost the job's lease. */
  leave(): void {
    this.end('lost');
  }

  private get allowedMs(): number {
    return Date.parse(this.started.deadlineAt) - Date.parse(this.started.begunAt);
  }

  private async follow(): Promise<void> {
    const { streams, commands } = this.parts;
    const stopWatching = this.watch();
    try {
      const result = await Promise.race([this.work.done, untilAborted(this.abandoned.signal)]);
      const ending = await this.ending(result ?? undefined);
      const { end } = await streams.retryWhileUnavailable(END_PATIENCE_MS, () =>
        commands.execute(new EndJob(this.started.jobId, ending, this.cause)),
      );
      // Another process has ended or purged the job before, so no event names the result.
      if (ending.type === 'completed' && end?.type !== 'JobCompleted') await this.parts.blobs.delete(ending.result.sha256);
    } catch (error) {
      this.logger.error(`The end of job ${this.started.jobId} could not be recorded; the job will be recorded as lost.`, error);
    } finally {
      stopWatching();
    }
  }

  private async ending(result: WorkResult | undefined): Promise<JobEnding> {
    if (result && 'value' in result) {
      // The work ended before a stop took effect.
      if (isErrorResult(result.value)) return failedBy(textOf(result.value));
      return this.completed(result.value);
    }
    if (this.stop === 'timeout') {
      const seconds = Math.round(this.allowedMs / 1000);
      return { type: 'failed', error: `The call was stopped after ${seconds} seconds.`, reason: 'timeout' };
    }
    if (this.stop) return { type: this.stop };
    const error = result?.error;
    if (error instanceof ToolFailed) return failedBy(error.message);
    this.logger.error(`The call of job ${this.started.jobId} failed unexpectedly.`, error);
    return failedBy(REASON_UNKNOWN);
  }

  private async completed(value: unknown): Promise<JobEnding> {
    for (let attempt = 1; ; attempt++) {
      try {
        return { type: 'completed', result: await keepResult(this.parts.blobs, this.started.jobId, value) };
      } catch (error) {
        if (!(error instanceof BlobsUnavailable)) throw error;
        // While the disk is full, storing is retried until the job's deadline, because space may become free.
        const waits = isDiskFull(error) && !this.abandoned.signal.aborted;
        if (attempt >= KEEP_ATTEMPTS_MAX && !waits) return failedBy('The call was completed, but its result could not be kept.');
        await this.parts.timing.pause(KEEP_AGAIN_MS);
      }
    }
  }

  private watch(): () => void {
    const { signals, timing } = this.parts;
    const { jobId } = this.started;
    const leftMs = this.work.begunMs + this.allowedMs - timing.elapsedMs();
    const dropDeadline = timing.after(leftMs, () => this.end('timeout'));
    // A failed check is repeated at the next interval. In any case the job ends at its deadline.
    let polled = Promise.resolve();
    const pollQuietly = () => void (polled = polled.then(() => this.poll()).catch(() => undefined));
    const stopPolling = timing.every(CANCEL_POLL_MS, pollQuietly);
    const unsubscribe = signals.subscribe(cancelSubject(jobId), pollQuietly);
    return () => {
      dropDeadline();
      stopPolling();
      unsubscribe();
    };
  }

  private async poll(): Promise<void> {
    this.known = await this.parts.streams.fold(jobStream(this.started.jobId), job, this.known);
    const { end, cancelRequested } = this.known.state;
    if (end) return this.end('lost');
    if (cancelRequested) this.end('cancelled');
    await this.report(this.known);
  }

  private async report(known: Folded<Job>): Promise<void> {
    const progress = this.work.progress();
    if (!progress || progress === this.lastReported) return;
    this.known = await this.parts.commands.execute(new ReportJobProgress(this.started.jobId, progress, known, this.cause));
    this.lastReported = progress;
  }

  /** Stops the work, unless it was already stopped for a reason of the same or a higher weight. */
  private end(stop: Stop): void {
    if (this.stop && WEIGHTS[this.stop] >= WEIGHTS[stop]) return;
    this.stop = stop;
    this.work.controller.abort(stop);
    if (stop === 'cancelled') return;
    const patienceMs = stop === 'lost' ? LEFT_WORK_MS_MAX : LATE_WORK_MS_MAX;
    this.parts.timing.after(patienceMs, () => this.abandoned.abort(), { unref: true });
  }
}

const failedBy = (error: string): JobEnding => ({
  type: 'failed',
  error: shortened(error, ERROR_CHARACTERS_MAX),
  reason: 'tool',
});

const untilAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
