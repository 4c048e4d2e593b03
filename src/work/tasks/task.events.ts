import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

export type TaskId = string;

/**
 * The result of a task: in the event if it is small, else a blob of the same JSON. A blob with `isOwn` contains the task's id, so
 * no other task shares it and it is deleted with the task.
 */
export type TaskResult = Readonly<{ inline: unknown }> | Readonly<{ blob: BlobRef; isOwn?: true }>;

export type TaskQueued = Event<
  'TaskQueued',
  { taskId: TaskId; kind: string; ownerId: string; input: Readonly<Record<string, unknown>> }
>;
/** A worker claimed the task with this append. Attempts count from 1, and their events name them. */
export type TaskStarted = Event<'TaskStarted', { taskId: TaskId; attempt: number; claim: string }>;
export type TaskProgressed = Event<'TaskProgressed', { taskId: TaskId; attempt: number; percent: number }>;
/** The attempt failed or its worker was lost. Another may start at `dueAt`. */
export type TaskRetryScheduled = Event<'TaskRetryScheduled', { taskId: TaskId; attempt: number; reason: string; dueAt: string }>;
/** The worker shut down. The attempt does not count as a failure. */
export type TaskRequeued = Event<'TaskRequeued', { taskId: TaskId; attempt: number }>;
export type TaskSucceeded = Event<'TaskSucceeded', { taskId: TaskId; attempt: number; result: TaskResult }>;
export type TaskFailed = Event<'TaskFailed', { taskId: TaskId; attempt: number; reason: string }>;

/** The retention of the task is over, and the API no longer shows it. `result` is the blob that is deleted with it. */
export type TaskPurged = Event<'TaskPurged', { taskId: TaskId; kind: string; ownerId: string; result: BlobRef | null }>;

export type TaskEvent =
  | TaskQueued
  | TaskStarted
  | TaskProgressed
  | TaskRetryScheduled
  | TaskRequeued
  | TaskSucceeded
  | TaskFailed
  | TaskPurged;

/** Whether an event of this type ends a task. */
export const isTaskOver = (type: string): boolean => type === 'TaskSucceeded' || type === 'TaskFailed' || type === 'TaskPurged';

export const taskStream = (taskId: TaskId): string => `task-${taskId}`;
