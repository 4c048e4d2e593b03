/** An item is dropped after this many failed attempts. The log still holds the work, and a sweep enqueues it again. */
export const ATTEMPTS_MAX = 10;
/** Within this time, items with the same id are one item, even after the first is done. */
export const DEDUPLICATION_MS = 120_000;
export const PAYLOAD_BYTES_MAX = 256 * 1024;
/** Maximum number of waiting items in all queues together. */
export const WAITING_MAX = 1_000_000;

/** The delay in milliseconds before the next attempt, by the number of attempts made. */
export const retryDelayMs = (attempts: number): number => Math.min(100 * 4 ** (attempts - 1), 30_000);

/** The queue did not accept the item in time. The caller continues, and a sweep of the log enqueues the item later. */
export class WorkQueueUnavailable extends Error {
  override readonly name = 'WorkQueueUnavailable';
}

/**
 * Delivers work to one of several workers, at least once and in no particular order. The log holds what has to be done and what
 * is done; the queue only wakes a worker. An item whose handler throws or whose worker crashes is delivered again.
 */
export abstract class WorkQueue {
  /** Enqueues an item, unless one with this id was enqueued within DEDUPLICATION_MS. Queue names are single tokens. @throws WorkQueueUnavailable */
  abstract enqueue(queue: string, id: string, payload: string): Promise<void>;
  /** Runs the handler for at most `concurrency` items at a time. When the signal aborts, it finishes the items in progress. */
  abstract consume(
    queue: string,
    options: { concurrency: number; signal: AbortSignal },
    handler: (payload: string) => Promise<void>,
  ): Promise<void>;
}
