import type { Cause } from '../kernel/events.js';
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

/**
 * Knows how to run one kind of task. Returns the result as JSON. Throwing a Rejection fails the task for good, with its
 * text as the reason; throwing anything else fails the attempt, and the task is run again from the start.
 */
export abstract class TaskRunner {
  abstract readonly kind: string;
  /** So many of its kind a worker has in hand at once, beside those of all other kinds; without it they share the worker's hands. */
  readonly concurrency?: number;
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

  /** Where nudges about tasks of a kind go: those that have hands of their own wait for each other only. */
  queueOf(kind: string): string {
    return this.of(kind)?.concurrency === undefined ? TASK_QUEUE : `${TASK_QUEUE}-${kind}`;
  }

  /** All queues of tasks, and how many of each a worker with so many hands takes at once. */
  queues(hands: number): ReadonlyMap<string, number> {
    const own = [...this.byKind.values()].flatMap(({ kind, concurrency }): [string, number][] =>
      concurrency === undefined ? [] : [[this.queueOf(kind), concurrency]],
    );
    return new Map([[TASK_QUEUE, hands], ...own]);
  }
}
