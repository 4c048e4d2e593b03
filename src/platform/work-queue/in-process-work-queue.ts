import {
  ATTEMPTS_MAX,
  DEDUPLICATION_MS,
  PAYLOAD_BYTES_MAX,
  retryDelayMs,
  WAITING_MAX,
  WorkQueue,
  WorkQueueUnavailable,
} from '../../kernel/work-queue.js';

type Item = { readonly payload: string; attempts: number };

/** One queue: the items that wait, the workers that wait, and the ids that were seen lately, oldest first. */
class Line {
  readonly waiting = new Set<Item>();
  readonly takers = new Set<(item: Item) => void>();
  readonly seen = new Map<string, number>();

  offer(item: Item): void {
    const [taker] = this.takers;
    if (!taker) return void this.waiting.add(item);
    this.takers.delete(taker);
    taker(item);
  }

  /** The next item; undefined once the signal aborts. */
  async take(signal: AbortSignal): Promise<Item | undefined> {
    if (signal.aborted) return undefined;
    const [item] = this.waiting;
    if (item) {
      this.waiting.delete(item);
      return item;
    }
    return new Promise((resolve) => {
      const taker = (offered: Item) => {
        signal.removeEventListener('abort', leave);
        resolve(offered);
      };
      const leave = () => {
        this.takers.delete(taker);
        resolve(undefined);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.takers.add(taker);
    });
  }
}

/** A work queue within one process, gone with it. */
export class InProcessWorkQueue extends WorkQueue {
  private readonly lines = new Map<string, Line>();

  private readonly now: () => number;
  private readonly retryDelayMs: (attempts: number) => number;

  constructor(options: { now?: () => number; retryDelayMs?: (attempts: number) => number } = {}) {
    super();
    this.now = options.now ?? Date.now;
    this.retryDelayMs = options.retryDelayMs ?? retryDelayMs;
  }

  async enqueue(queue: string, id: string, payload: string): Promise<void> {
    if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX) throw new RangeError(`A payload has at most ${PAYLOAD_BYTES_MAX} bytes.`);
    const line = this.line(queue);
    if (this.isRepeated(line, id)) return;
    if (line.waiting.size >= WAITING_MAX) throw new WorkQueueUnavailable(`${WAITING_MAX} items wait already.`);
    line.seen.set(id, this.now() + DEDUPLICATION_MS);
    line.offer({ payload, attempts: 0 });
  }

  async consume(
    queue: string,
    { concurrency, signal }: { concurrency: number; signal: AbortSignal },
    handler: (payload: string) => Promise<void>,
  ): Promise<void> {
    const line = this.line(queue);
    const work = async (): Promise<void> => {
      for (let item; (item = await line.take(signal));) await this.attempt(line, item, handler);
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  }

  private async attempt(line: Line, item: Item, handler: (payload: string) => Promise<void>): Promise<void> {
    item.attempts++;
    try {
      await handler(item.payload);
    } catch {
      if (item.attempts < ATTEMPTS_MAX) setTimeout(() => line.offer(item), this.retryDelayMs(item.attempts)).unref();
    }
  }

  private isRepeated({ seen }: Line, id: string): boolean {
    for (const [old, until] of seen) {
      if (until > this.now()) break;
      seen.delete(old);
    }
    return seen.has(id);
  }

  private line(queue: string): Line {
    const line = this.lines.get(queue) ?? new Line();
    this.lines.set(queue, line);
    return line;
  }
}
