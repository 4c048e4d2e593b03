import type { Cause } from '../../kernel/event-sourcing/events.js';
import { TASK_QUEUE } from './task.policy.js';

/** An attempt at a task. Another attempt may follow, and always does after a crash. */
export type TaskAttempt = Readonly<{
  taskId: string;
  ownerId: string;
  input: Readonly<Record<string, unknown>>;
  attempt: number;
  /** The cause of the attempt's events. */
  cause: Cause;
  /** Aborts when the worker stops or has lost the task to another worker. */
  signal: AbortSignal;
  /** Records the progress. Throws if the attempt is over. */
  progress(percent: number): Promise<void>;
}>;

/** Maximum number of running tasks, in total and per owner. */
export type WorkerLimits = Readonly<{ max: number; perOwnerMax: number }>;

/** The task cannot run at the moment. It is queued again, and the attempt does not count. */
export class TaskPostponed extends Error {
  override readonly name: string = 'TaskPostponed';
}

/** The attempt failed for a reason outside the service, such as a web server that did not answer. A later one may succeed. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed';
}

/**
 * Runs one kind of task and returns the result as JSON. A thrown Rejection fails the task finally, with its text as the reason. A
 * TaskPostponed, an error of a full disk or the outage of a dependency postpones it. Any other error fails the attempt, and the task
 * is run again from the start.
 */
export abstract class TaskRunner {
  abstract readonly kind: string;
  /**
   * Number of concurrent tasks of this kind per worker, in addition to other kinds. Without it, they share the worker's capacity.
   */
  readonly concurrency?: number;
  /** Maximum number of these of one owner. */
  readonly perOwnerMax?: number;
  abstract run(attempt: TaskAttempt): Promise<unknown>;
  /** Called when the task has finally failed, to report that elsewhere. It may be called again after a crash. */
  failed?(taskId: string, input: Readonly<Record<string, unknown>>, reason: string, cause: Cause): Promise<void>;
}

/** The task runners of this process. Rooms add theirs when they are created. */
export class TaskRunners {
  private readonly byKind = new Map<string, TaskRunner>();

  add(runner: TaskRunner): void {
    if (this.byKind.has(runner.kind)) throw new Error(`There are two runners for tasks of the kind ${runner.kind}.`);
    this.byKind.set(runner.kind, runner);
  }

  of(kind: string): TaskRunner | undefined {
    return this.byKind.get(kind);
  }

  /** The queue and payload of a task's nudge. Kinds with their own workers have their own queues. */
  nudgeAbout({ taskId, kind, ownerId }: Readonly<{ taskId: string; kind: string; ownerId: string }>): Nudge {
    if (this.of(kind)?.concurrency === undefined) return { queue: TASK_QUEUE, payload: taskId };
    return { queue: ownQueue(kind), payload: `${taskId} ${ownerId}` };
  }

  /** The queues of kinds with their own workers. */
  ownQueues(): ReadonlyMap<string, WorkerLimits> {
    return new Map(
      [...this.byKind.values()].flatMap(({ kind, concurrency: max, perOwnerMax = max }) =>
        max === undefined || perOwnerMax === undefined ? [] : [[ownQueue(kind), { max, perOwnerMax }]],
      ),
    );
  }
}

type Nudge = Readonly<{ queue: string; payload: string }>;

const ownQueue = (kind: string): string => `${TASK_QUEUE}-${kind}`;

/** The task and owner of a nudge. Nudges of older versions have no owner. */
export function taskIn(payload: string): Readonly<{ taskId: string; ownerId: string }> {
  const [, taskId = payload, ownerId = ''] = /^(\S+) (.*)$/s.exec(payload) ?? [];
  return { taskId, ownerId };
}
