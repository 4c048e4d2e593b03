import { setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import { type Blobs } from '../../kernel/blobs.js';
import type { Commands } from '../../kernel/commands.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { type EventStore, firstEvent } from '../../kernel/event-sourcing/event-store.js';
import { type Cause, causedBy } from '../../kernel/event-sourcing/events.js';
import { isDiskFull } from '../../kernel/full-disk.js';
import type { Ids } from '../../kernel/ids.js';
import { type KeyValue } from '../../kernel/messaging/key-value.js';
import { holdLease, type Lease, type LeaseOptions } from '../../kernel/messaging/lease.js';
import { Rejection } from '../../kernel/rejection.js';
import { type Streams } from '../../kernel/event-sourcing/streams.js';
import type { Timing } from '../../kernel/timing.js';
import { type WorkQueue } from '../../kernel/messaging/work-queue.js';
import { taskCodec } from './task.codec.js';
import { type AttemptEnding, EndAttempt, ProgressTask, StartTask } from './task.commands.js';
import { type Task, task } from './task.decider.js';
import { taskStream } from './task.events.js';
import { PROGRESS_STEP_PERCENT, TASK_QUEUE, taskLease, WORKER_LEASES } from './task.policy.js';
import { dropResult, storeResult } from './task-result.js';
import { SharedWorkers } from './shared-workers.js';
import {
  type WorkerLimits,
  type TaskAttempt,
  taskIn,
  AttemptFailed,
  TaskPostponed,
  type TaskRunner,
  type TaskRunners,
} from './task-runner.port.js';

export type TaskWorkerParts = Readonly<{
  store: EventStore;
  streams: Streams;
  commands: Commands;
  keyValue: KeyValue;
  workQueue: WorkQueue;
  blobs: Blobs;
  timing: Timing;
  ids: Ids;
  runners: TaskRunners;
  /** Whether an error is the outage of a dependency. */
  isOutage: (error: unknown) => boolean;
}>;

export type TaskWorkerOptions = Readonly<{ concurrency: number; leaseTtlMs: number; presenceTtlMs: number }>;

export const TASK_WORKER_OPTIONS: TaskWorkerOptions = { concurrency: 2, leaseTtlMs: 5_000, presenceTtlMs: 10_000 };

/** How long an attempt waits for the event store in order to record its end. */
const END_PATIENCE_MS = 60_000;

const ACTOR = 'system:task-worker';
const UNEXPECTED = 'The task failed unexpectedly.';

/** Rejections of a worker's claim: another worker has the task, or it is over or not due. Nothing is to do. */
const CLAIM_LOST = new Set(['task-over', 'task-not-due', 'task-unknown', 'task-attempt-superseded']);

/**
 * Runs tasks. An attempt takes the task's lease, claims the task by an append, runs it, and appends the outcome. After a crash at
 * any point, the task is started but has no lease, and the next sweep starts another attempt.
 */
export class TaskWorker {
  /** The name of this worker in its leases. */
  readonly id: string;
  private presence: Lease | undefined;
  private readonly logger = new Logger(TaskWorker.name);

  constructor(
    private readonly parts: TaskWorkerParts,
    private readonly options: TaskWorkerOptions = TASK_WORKER_OPTIONS,
  ) {
    this.id = parts.ids.next();
  }

  /** Works until the signal aborts, and then requeues running attempts. */
  async work(signal: AbortSignal): Promise<void> {
    // Every running attempt adds a listener.
    setMaxListeners(0, signal);
    await this.bePresent(signal);
    const stopRenewing = this.parts.timing.every(this.options.presenceTtlMs / 3, () => void this.bePresent(signal));
    try {
      const { concurrency } = this.options;
      const shared = this.parts.workQueue.consume(TASK_QUEUE, { concurrency, signal }, (nudge) =>
        this.attempt(taskIn(nudge).taskId, signal),
      );
      const own = [...this.parts.runners.ownQueues()].map(([queue, workers]) => this.consumeByTurns(queue, workers, signal));
      await Promise.all([shared, ...own]);
    } finally {
      stopRenewing();
      await this.presence?.release();
    }
  }

  private async consumeByTurns(queue: string, workers: WorkerLimits, signal: AbortSignal): Promise<void> {
    const turns = new SharedWorkers(workers);
    const close = () => void turns.close();
    signal.addEventListener('abort', close, { once: true });
    await this.parts.workQueue.consume(queue, { concurrency: turns.nudgesMax, signal }, (nudge) => {
      const { taskId, ownerId } = taskIn(nudge);
      return turns.take(taskId, ownerId, () => this.attempt(taskId, signal));
    });
    await turns.close();
  }

  /**
   * Makes an attempt at a task, unless another worker runs it. @throws the reason why the attempt was aborted, so that the queue
   * delivers the nudge of the requeued task again
   */
  async attempt(taskId: string, signal: AbortSignal): Promise<void> {
    const lease = await holdLease(this.parts.keyValue, taskLease(taskId), this.leaseOf(this.options.leaseTtlMs));
    if (!lease) return;
    const over = new AbortController();
    // Not `AbortSignal.any`, because the worker's signal would retain those of all its attempts.
    const onAbort = () => over.abort(signal.reason);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    lease.lost.addEventListener('abort', () => over.abort(lease.lost.reason), { once: true });
    try {
      await this.run(taskId, over.signal);
      over.signal.throwIfAborted();
    } catch (error) {
      if (!(error instanceof Rejection) || !CLAIM_LOST.has(error.code)) throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      await lease.release();
    }
  }

  private async run(taskId: string, signal: AbortSignal): Promise<void> {
    const cause = await this.causeOf(taskId);
    if (!cause) return;
    const { state: before } = await this.parts.streams.fold(taskStream(taskId), task);
    const runner = this.parts.runners.of(before.kind);
    if (!runner || signal.aborted) return;
    const started = await this.parts.commands.execute(new StartTask(taskId, this.parts.ids.next(), cause));
    if (started.status !== 'started') return;
    const end = (ending: AttemptEnding) => this.end(new EndAttempt(taskId, started.attempt, ending, cause), signal);
    const ending = await this.endingOf(taskId, started, runner, cause, signal).catch(async (outage: unknown) => {
      await end({ type: 'requeued' });
      throw outage;
    });
    await end(ending);
  }

  /**
   * Records the end, also after an outage of the event store: without it the attempt would count as that of a lost worker. A refused
   * one has been overtaken or its task purged, so no event names its result.
   */
  private async end(command: EndAttempt, signal: AbortSignal): Promise<void> {
    const { commands, streams, blobs } = this.parts;
    const { ending } = command;
    try {
      await streams.retryWhileUnavailable(END_PATIENCE_MS, () => commands.execute(command), signal);
    } catch (error) {
      if (error instanceof Rejection && ending.type === 'succeeded') await dropResult(blobs, ending.result);
      throw error;
    }
  }

  /**
   * Runs the attempt and returns how it ended. @throws the outage of a dependency, which does not count as a failure: the task is
   * requeued, and the queue delivers its nudge again
   */
  private async endingOf(
    taskId: string,
    { attempt, ownerId, input }: Task,
    runner: TaskRunner,
    cause: Cause,
    signal: AbortSignal,
  ): Promise<AttemptEnding> {
    try {
      const ended = await runner.run({
        taskId,
        ownerId,
        input,
        attempt,
        cause,
        signal,
        progress: this.progress(taskId, attempt, cause, signal),
      });
      return await this.keep(taskId, attempt, ended ?? null);
    } catch (error) {
      if (signal.aborted || error instanceof TaskPostponed || isDiskFull(error)) return { type: 'requeued' };
      if (error instanceof Rejection) return { type: 'refused', reason: error.message };
      if (this.parts.isOutage(error)) throw error;
      // Callers with the task's id can read the reason, so internal errors are only logged.
      if (error instanceof AttemptFailed) this.logger.warn(`Attempt ${attempt} of task ${taskId} failed for a reason outside.`);
      else this.logger.error(`Attempt ${attempt} of task ${taskId} failed.`, error);
      return { type: 'failed', reason: UNEXPECTED };
    }
  }

  /** Stores the result. While that is impossible, the task waits, because it has not failed. */
  private async keep(taskId: string, attempt: number, result: unknown): Promise<AttemptEnding> {
    try {
      return { type: 'succeeded', result: await storeResult(this.parts.blobs, taskId, attempt, result) };
    } catch (error) {
      this.logger.warn(`The result of attempt ${attempt} of task ${taskId} cannot be stored yet: ${(error as Error).message}`);
      return { type: 'requeued' };
    }
  }

  /** Records progress in steps, so that a task with a thousand parts does not append a thousand events. */
  private progress(taskId: string, attempt: number, cause: Cause, signal: AbortSignal): TaskAttempt['progress'] {
    let stated = 0;
    return async (percent) => {
      signal.throwIfAborted();
      const whole = Math.floor(percent);
      if (whole < stated + PROGRESS_STEP_PERCENT && whole < 100) return;
      stated = whole;
      await this.parts.commands.execute(new ProgressTask(taskId, attempt, whole, cause));
    };
  }

  private async causeOf(taskId: string): Promise<Cause | undefined> {
    const first = await firstEvent(this.parts.store, taskStream(taskId));
    const queued = first && decode(taskCodec, first);
    return queued && causedBy(queued, ACTOR);
  }

  /**
   * Holds the lease that shows other processes that a worker is alive. During an outage of the key-value store they cannot see
   * it.
   */
  private async bePresent(signal: AbortSignal): Promise<void> {
    if (signal.aborted || (this.presence && !this.presence.lost.aborted)) return;
    const key = `${WORKER_LEASES}${this.id}`;
    const lease = { ...this.leaseOf(this.options.presenceTtlMs), signal };
    this.presence = await holdLease(this.parts.keyValue, key, lease).catch(() => undefined);
  }

  private leaseOf(ttlMs: number): LeaseOptions {
    const { timing, ids } = this.parts;
    return { ttlMs, holder: this.id, timing, ids };
  }
}
