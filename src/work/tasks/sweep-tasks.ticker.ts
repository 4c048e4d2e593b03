import { Injectable } from '@nestjs/common';
import { TaskQueries, type TaskRecord } from '../../../projections/tasks/tasks.queries.js';
import { isHeld } from '../../kernel/lease.js';
import { KeyValue } from '../../kernel/key-value.js';
import type { Ticker } from '../../kernel/event-sourcing/ticker.js';
import { WorkQueue } from '../../kernel/work-queue.js';
import { taskLease } from './task.policy.js';
import { TaskRunners } from './task-runner.port.js';

/** How often tasks without a worker are looked for; with a lease's time to live it bounds how long a lost task waits. */
const EVERY_MS = 1_000;
/** Tasks without a worker that one tick nudges; the others have their turn in the next. */
const TASKS_PER_TICK_MAX = 500;
/** Started tasks that are read at a time; a tick looks at all of them. */
const TASKS_PER_PAGE = 500;

/** A queued task was nudged when it was queued; only one that waits longer is nudged again, and not more often than this. */
const NUDGE_AGAIN_MS = 30_000;
/** The same for tasks whose nudge is spent: due retries, and those whose worker was lost. */
const NUDGE_LOST_MS = 2_000;

/**
 * Nudges the workers about tasks that should be under way and are not: due for a retry, started by a worker that was lost, or
 * queued for long. After a start every queued task is nudged once, because the process that had its nudge may be gone.
 */
@Injectable()
export class SweepTasks implements Ticker {
  readonly name = 'sweep-tasks';
  readonly everyMs = EVERY_MS;
  private isCatchingUp = true;

  constructor(
    private readonly tasks: TaskQueries,
    private readonly keyValue: KeyValue,
    private readonly workQueue: WorkQueue,
    private readonly runners: TaskRunners,
  ) {}

  async tick(now: Date): Promise<void> {
    await this.nudgeLost(now);
    const queuedBefore = new Date(now.getTime() - (this.isCatchingUp ? 0 : NUDGE_AGAIN_MS));
    const unstarted = await this.tasks.unstarted(now, queuedBefore, TASKS_PER_TICK_MAX);
    for (const record of unstarted) await this.nudge(record, now);
    this.isCatchingUp &&= unstarted.length === TASKS_PER_TICK_MAX;
  }

  /** Of all that workers have started: no backlog of what they have not is in the way of it. */
  private async nudgeLost(now: Date): Promise<void> {
    let page: readonly TaskRecord[] = [];
    do {
      page = await this.tasks.started(TASKS_PER_PAGE, page.at(-1));
      for (const record of page) if (!(await isHeld(this.keyValue, taskLease(record.taskId)))) await this.nudge(record, now);
    } while (page.length === TASKS_PER_PAGE);
  }

  /** The queue takes each id once for a while: the time in it makes a later nudge another one. */
  private nudge(record: TaskRecord, now: Date): Promise<void> {
    const { taskId, status, attempt } = record;
    const step = status === 'queued' ? NUDGE_AGAIN_MS : NUDGE_LOST_MS;
    const { queue, payload } = this.runners.nudgeAbout(record);
    return this.workQueue.enqueue(queue, `${taskId}-${attempt}-${Math.floor(now.getTime() / step)}`, payload);
  }
}
