import { once } from 'node:events';
import {
  ATTEMPTS_MAX,
  DEDUPLICATION_MS,
  PAYLOAD_BYTES_MAX,
  retryDelayMs,
  WAITING_MAX,
  WorkQueue,
  WorkQueueUnavailable,
} from '../../../kernel/messaging/work-queue.js';

type Handler = (payload: string) => Promise<void>;
type Item = { readonly payload: string; attempts: number };
type Worker = { free: number; readonly run: (item: Item) => Promise<void>; readonly busy: Set<Promise<void>> };

/** A queue: waiting items, workers in round-robin order, and recently seen ids, oldest first. */
class Line {
  readonly waiting = new Set<Item>();
  readonly workers = new Set<Worker>();
  readonly seen = new Map<string, number>();

  /** Assigns waiting items to free workers, one to each before a second to any. */
  dispatch(): void {
    for (const item of this.waiting) {
      const worker = this.next();
      if (!worker) return;
      this.waiting.delete(item);
      this.start(worker, item);
    }
  }

  private next(): Worker | undefined {
    for (const worker of this.workers) {
      if (worker.free === 0) continue;
      this.workers.delete(worker);
      this.workers.add(worker);
      return worker;
    }
    return undefined;
  }

  private start(worker: Worker, item: Item): void {
    worker.free--;
    const done = worker.run(item).finally(() => {
      worker.free++;
      worker.busy.delete(done);
      this.dispatch();
    });
    worker.busy.add(done);
  }
}

/** A work queue in memory. Delays use the monotonic clock. */
export class InProcessWorkQueue extends WorkQueue {
  private readonly lines = new Map<string, Line>();

  private readonly now: () => number;
  private readonly retryDelayMs: (attempts: number) => number;

  constructor(options: { now?: () => number; retryDelayMs?: (attempts: number) => number } = {}) {
    super();
    this.now = options.now ?? (() => performance.now());
    this.retryDelayMs = options.retryDelayMs ?? retryDelayMs;
  }

  async enqueue(queue: string, id: string, payload: string): Promise<void> {
    if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX) throw new RangeError(`A payload has at most ${PAYLOAD_BYTES_MAX} bytes.`);
    const line = this.line(queue);
    if (this.isRepeated(line, id)) return;
    if (line.waiting.size >= WAITING_MAX) throw new WorkQueueUnavailable(`${WAITING_MAX} items wait already.`);
    line.seen.set(id, this.now() + DEDUPLICATION_MS);
    this.offer(line, { payload, attempts: 0 });
  }

  async consume(
    queue: string,
    { concurrency, signal }: { concurrency: number; signal: AbortSignal },
    handler: Handler,
  ): Promise<void> {
    if (signal.aborted) return;
    const line = this.line(queue);
    const worker: Worker = { free: concurrency, run: (item) => this.attempt(line, item, handler), busy: new Set() };
    line.workers.add(worker);
    line.dispatch();
    await once(signal, 'abort');
    line.workers.delete(worker);
    await Promise.all(worker.busy);
  }

  private offer(line: Line, item: Item): void {
    line.waiting.add(item);
    line.dispatch();
  }

  private async attempt(line: Line, item: Item, handler: Handler): Promise<void> {
    item.attempts++;
    try {
      await handler(item.payload);
    } catch {
      if (item.attempts < ATTEMPTS_MAX) setTimeout(() => this.offer(line, item), this.retryDelayMs(item.attempts)).unref();
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
