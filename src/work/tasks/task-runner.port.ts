import type { Cause } from '../../kernel/event-sourcing/events.js';
import { TASK_QUEUE } from './task.policy.js';

/** One attempt at a task, as its runner sees it. Another attempt may come after this one, and after a crash always does. */
export type TaskAttempt = Readonly<{
  taskId: string;
  ownerId: string;
  input: Readonly<Record<string, unknown>>;
  attempt: number;
  /** The cause of what the attempt makes happen. */
  cause: Cause;
  /** Aborts when the worker stops, or has lost the task to another. */
  signal: AbortSignal;
  /** States how far it is; throws when the attempt is over. */
  progress(percent: number): Promise<void>;
}>;

/** How many tasks are in hand at once, and how many of one owner. */
export type WorkerLimits = Readonly<{ max: number; perOwnerMax: number }>;

/** There is no room for the task at the moment: it is queued as before, and its attempt counts for nothing. */
export class TaskPostponed extends Error {
  override readonly name: string = 'TaskPostponed';
}

/**
 * Knows how to run one kind of task. Returns the result as JSON. Throwing a Rejection fails the task for good, with its
 * text as the reason; throwing a TaskPostponed, or what a full disk makes fail, leaves it for later; throwing anything else fails
 * the attempt, and the task is run again from the start.
 */
export abstract class TaskRunner {
  abstract readonly kind: string;
  /** So many of its kind a worker has in hand at once, beside those of all other kinds; without it they share the worker's places. */
  readonly concurrency?: number;
  /** So many of these may be one owner's; owners take turns. */
  readonly perOwnerMax?: number;
  abstract run(attempt: TaskAttempt): Promise<unknown>;
  /** Called once when the task has failed for good, to say so wherever it matters; may come again after a crash. */
  failed?(taskId: string, input: Readonly<Record<string, unknown>>, reason: string, cause: Cause): Promise<void>;
}

/** The kinds of task this process can run. Features add theirs when they are built. */
export class TaskRunners {
  private readonly byKind = new Map<string, TaskRunner>();

  add(runner: TaskRunner): void {
    if (this.byKind.has(runner.kind)) throw new Error(`There are two runners for tasks of the kind ${runner.kind}.`);
    this.byKind.set(runner.kind, runner);
  }

  of(kind: string): TaskRunner | undefined {
    return this.byKind.get(kind);
  }

  /** Where a nudge about a task goes, and what it says: tasks that have workers of their own wait for each other only, by owner. */
  nudgeAbout({ taskId, kind, ownerId }: Readonly<{ taskId: string; kind: string; ownerId: string }>): Nudge {
    if (this.of(kind)?.concurrency === undefined) return { queue: TASK_QUEUE, payload: taskId };
    return { queue: ownQueue(kind), payload: `${taskId} ${ownerId}` };
  }

  /** The queues of tasks that have workers of their own. */
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

/** Whose task a nudge is about. Those from before that was said belong together. */
export function taskIn(payload: string): Readonly<{ taskId: string; ownerId: string }> {
  const [, taskId = payload, ownerId = ''] = /^(\S+) (.*)$/s.exec(payload) ?? [];
  return { taskId, ownerId };
}
