/** An attempt that failed is repeated this often, after a growing delay; then the task has failed. */
export const RETRIES_MAX = 3;
export const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 25_000];

/** A result above this is kept as a blob. */
export const RESULT_INLINE_BYTES_MAX = 64 * 1024;

/** Progress is stated in steps of this size. */
export const PROGRESS_STEP_PERCENT = 5;

/** Where nudges about tasks go, those apart whose kind has workers of its own. */
export const TASK_QUEUE = 'tasks';

export const taskLease = (taskId: string): string => `tasks.${taskId}`;

/** Workers alive hold a key that starts so. */
export const WORKER_LEASES = 'workers.';
