/** Number of retries of a failed attempt, with growing delays. After them, the task has failed. */
export const RETRIES_MAX = 3;
export const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 25_000];

/** Progress is recorded in steps of this size. */
export const PROGRESS_STEP_PERCENT = 5;

/** The queue of nudges, except for kinds with their own workers. */
export const TASK_QUEUE = 'tasks';

export const taskLease = (taskId: string): string => `tasks.${taskId}`;

/** The prefix of the keys that running workers hold. */
export const WORKER_LEASES = 'workers.';
