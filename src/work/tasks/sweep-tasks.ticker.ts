import { Injectable } from '@nestjs/common';
import { TaskQueries, type TaskRecord } from '../../../projections/tasks/tasks.queries.js';
import { isHeld } from '../../kernel/messaging/lease.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';
import type { Ticker } from '../../kernel/event-sourcing/ticker.js';
import { Sightings } from '../../kernel/sightings.js';
import { Timing } from '../../kernel/timing.js';
import { WorkQueue } from '../../kernel/messaging/work-queue.js';
import { taskLease } from './task.policy.js';
import { TaskRunners } from './task-runner.port.js';

/**
 * The interval of the search for tasks without a worker. With the time to live of a lease, it bounds how long a lost task waits.
 */
const EVERY_MS = 1_000;
/** Maximum number of due retries, and of queued tasks, that a tick nudges first. The others follow in later ticks. */
export const TASKS_PER_TICK_MAX = 500;
/**
 * Number of tasks that a tick also nudges in turn, after there were more than it nudges first for NUDGE_AGAIN_MS. It sends as few
 * nudges as repeating those of a page does, because most of these tasks only wait for a worker.
 */
export const TASKS_IN_TURN = 20;
/** Page size of the read of started tasks. A tick reads all of them. */
const TASKS_PER_PAGE = 500;

/** A queued task was nudged when it was queued. It is nudged again when this sweep has seen it for this time, and so on. */
const NUDGE_AGAIN_MS = 30_000;
/** The same for tasks whose nudge was consumed: due retries, and tasks of lost workers. */
const NUDGE_LOST_MS = 2_000;

/**
 * Queued tasks are nudged for this time after a start, because the process that held their nudges may have crashed. The read model
 * may show the last of them only after a while.
 */
const CATCH_UP_MS = 30_000;

const UNSTARTED = ['waiting', 'queued'] as const;
type Unstarted = (typeof UNSTARTED)[number];

/**
 * Nudges workers about tasks that should run and do not: due retries, tasks of lost workers, tasks that were queued before the
 * start, and tasks that wait for long.
 */
@Injectable()
export class SweepTasks implements Ticker {
  readonly name = 'sweep-tasks';
  readonly everyMs = EVERY_MS;
  private isCatchingUp = true;
  private readonly startedAtMs: number;
  /** The unstarted tasks, each since the first look or the last nudge. */
  private readonly sightings: Sightings;
  /** Tasks that were queued up to this time of the store have waited for NUDGE_AGAIN_MS, also those beyond the page. */
  private lateUntil = new Date(0);
  /** The statuses with more tasks than a tick nudges first. */
  private readonly full: Sightings;
  /** The last task of a status that was nudged in turn. */
  private readonly inTurn = new Map<Unstarted, TaskRecord | undefined>();

  constructor(
    private readonly tasks: TaskQueries,
    private readonly keyValue: KeyValue,
    private readonly workQueue: WorkQueue,
    private readonly runners: TaskRunners,
    private readonly timing: Timing,
  ) {
    this.startedAtMs = timing.elapsedMs();
    this.sightings = new Sightings(timing);
    this.full = new Sightings(timing);
  }

  async tick(now: Date): Promise<void> {
    await this.nudgeLost(now);
    const unstarted = await this.tasks.unstarted(now, TASKS_PER_TICK_MAX);
    const first = this.sightings.look(unstarted.map(attemptOf));
    for (const record of unstarted) if (this.hasWaited(record)) this.lateUntil = laterOf(this.lateUntil, record.changedAt);
    for (const record of unstarted) {
      if (!this.isLate(record, first) && !this.isCatchingUp) continue;
      await this.nudge(record, now);
      this.sightings.restart(attemptOf(record));
    }
    const isFull = (status: Unstarted) => unstarted.filter((each) => each.status === status).length >= TASKS_PER_TICK_MAX;
    this.full.look(UNSTARTED.filter(isFull));
    for (const status of UNSTARTED) if (this.full.ageMs(status) >= NUDGE_AGAIN_MS) await this.nudgeInTurn(status, now);
    const isNew = this.timing.elapsedMs() - this.startedAtMs < CATCH_UP_MS;
    this.isCatchingUp &&= isNew || isFull('queued');
  }

  /** Nudges the next of all tasks. If no worker can take those that a tick nudges first, the others never take their place. */
  private async nudgeInTurn(status: Unstarted, now: Date): Promise<void> {
    const next = await this.tasks.unstartedAfter(this.inTurn.get(status), status, now, TASKS_IN_TURN);
    for (const record of next) await this.nudge(record, now);
    this.inTurn.set(status, next.length === TASKS_IN_TURN ? next.at(-1) : undefined);
  }

  private hasWaited(record: TaskRecord): boolean {
    return record.status === 'queued' && this.sightings.ageMs(attemptOf(record)) >= NUDGE_AGAIN_MS;
  }

  /** `first`: the tasks that come into the page with this tick. */
  private isLate(record: TaskRecord, first: ReadonlySet<string>): boolean {
    if (record.status === 'waiting' || this.hasWaited(record)) return true;
    return first.has(attemptOf(record)) && record.changedAt <= this.lateUntil;
  }

  /** Nudges tasks of lost workers. It reads all started tasks, so a backlog of queued ones does not delay it. */
  private async nudgeLost(now: Date): Promise<void> {
    let page: readonly TaskRecord[] = [];
    do {
      page = await this.tasks.started(TASKS_PER_PAGE, page.at(-1));
      for (const record of page) if (!(await isHeld(this.keyValue, taskLease(record.taskId)))) await this.nudge(record, now);
    } while (page.length === TASKS_PER_PAGE);
  }

  /** Nudges a task. The queue deduplicates ids for a while, so the id contains the time. */
  private nudge(record: TaskRecord, now: Date): Promise<void> {
    const step = record.status === 'queued' ? NUDGE_AGAIN_MS : NUDGE_LOST_MS;
    const { queue, payload } = this.runners.nudgeAbout(record);
    return this.workQueue.enqueue(queue, `${attemptOf(record)}-${Math.floor(now.getTime() / step)}`, payload);
  }
}

const attemptOf = ({ taskId, attempt }: TaskRecord): string => `${taskId}-${attempt}`;

const laterOf = (one: Date, other: Date): Date => (one < other ? other : one);
