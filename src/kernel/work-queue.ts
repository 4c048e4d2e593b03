/** An item whose handler failed this often is dropped: the log still says that it is to be done. */
export const ATTEMPTS_MAX = 10;
/** The same id within this time is the same item, also when the first is done already. */
export const DEDUPLICATION_MS = 120_000;
export const PAYLOAD_BYTES_MAX = 256 * 1024;
/** How many items may wait in all queues together. */
export const WAITING_MAX = 1_000_000;

/** The time before a failed item's next attempt, by the number of attempts made. */
export const retryDelayMs = (attempts: number): number => Math.min(100 * 4 ** (attempts - 1), 30_000);

/** The queue did not take the item (in time). The caller goes on: the sweep of the log enqueues what is left behind. */
export class WorkQueueUnavailable extends Error {
  override readonly name = 'WorkQueueUnavailable';
}

/**
 * Hands work to one of several workers soon. At least once, in no particular order: the log says what is to be done and
 * what is done already, the queue only says "now". An item whose handler throws, or whose worker dies, comes again.
 */
export abstract class WorkQueue {
  /** `id` makes a repeated enqueue within DEDUPLICATION_MS one item. Queue names are single tokens. @throws WorkQueueUnavailable */
  abstract enqueue(queue: string, id: string, payload: string): Promise<void>;
  /** Runs the handler for at most `concurrency` items at a time until the signal aborts, then finishes those in hand. */
  abstract consume(
    queue: string,
    options: { concurrency: number; signal: AbortSignal },
    handler: (payload: string) => Promise<void>,
  ): Promise<void>;
}
