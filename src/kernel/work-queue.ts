/**
 * Hands work to one of several workers soon. At least once, in no particular order: the log says what is to be done and
 * what is done already, the queue only says "now". An item whose handler throws, or whose worker dies, comes again.
 */
export abstract class WorkQueue {
  /** `id` makes a repeated enqueue within two minutes one item. Queue names are single tokens. */
  abstract enqueue(queue: string, id: string, payload: string): Promise<void>;
  /** Runs the handler for at most `concurrency` items at a time until the signal aborts, then finishes those in hand. */
  abstract consume(
    queue: string,
    options: { concurrency: number; signal: AbortSignal },
    handler: (payload: string) => Promise<void>,
  ): Promise<void>;
}
