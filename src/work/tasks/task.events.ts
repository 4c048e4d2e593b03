import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

export type TaskId = string;

/**
 * The result of a task: in the event while it is small, else a blob of the same JSON. A blob with `isOwn` has the task's id among
 * its bytes, so that no other task shares it and it may be deleted with the task.
 */
export type TaskResult = Readonly<{ inline: unknown }> | Readonly<{ blob: BlobRef; isOwn?: true }>;

export type TaskQueued = Event<
  'TaskQueued',
  { taskId: TaskId; kind: string; ownerId: string; input: Readonly<Record<string, unknown>> }
>;
/** The append of this event is the claim. Attempts count from 1; whatever an attempt states names it. */
export type TaskStarted = Event<'TaskStarted', { taskId: TaskId; attempt: number; claim: string }>;
export type TaskProgressed = Event<'TaskProgressed', { taskId: TaskId; attempt: number; percent: number }>;
/** The attempt failed, or its worker was lost; another may start from `dueAt`. */
export type TaskRetryScheduled = Event<'TaskRetryScheduled', { taskId: TaskId; attempt: number; reason: string; dueAt: string }>;
/** The worker stopped in an orderly way; the attempt does not count as a failure. */
export type TaskRequeued = Event<'TaskRequeued', { taskId: TaskId; attempt: number }>;
export type TaskSucceeded = Event<'TaskSucceeded', { taskId: TaskId; attempt: number; result: TaskResult }>;
export type TaskFailed = Event<'TaskFailed', { taskId: TaskId; attempt: number; reason: string }>;

/** Its retention time is over: the API no longer shows it. `result` is the blob that is deleted with it. */
export type TaskPurged = Event<'TaskPurged', { taskId: TaskId; kind: string; ownerId: string; result: BlobRef | null }>;

export type TaskEvent =
  TaskQueued | TaskStarted | TaskProgressed | TaskRetryScheduled | TaskRequeued | TaskSucceeded | TaskFailed | TaskPurged;

/** Whether a task's last word has this type. */
export const isTaskOver = (type: string): boolean => type === 'TaskSucceeded' || type === 'TaskFailed' || type === 'TaskPurged';

export const taskStream = (taskId: TaskId): string => `task-${taskId}`;
