import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { pause } from '../nats/nats-connection.js';

const PULL_MS = 30_000;
const PULL_HEARTBEAT_MS = 5_000;
const RETRY_MS = 500;
/**
 * Maximum number of open pull requests of a worker. The server serves the requests of one worker before those of the next, so
 * this is also the number of items of a burst that one worker gets while another is idle. The server keeps only some hundreds in
 * all.
 */
const PULLS_MAX = 4;

/**
 * Pulls items for a number of workers. A pull requests one item and reserves a worker for it, so no item waits in this process
 * while another process has a free worker.
 */
export class NatsWorker {
  private free: number;
  private pulls = 0;
  private readonly busy = new Set<Promise<void>>();
  private consumer: Promise<Consumer> | undefined;
  private changed = () => {};

  constructor(
    workers: number,
    private readonly stopping: AbortSignal,
    /** Creates or finds the consumer on the server. */
    private readonly find: () => Promise<Consumer>,
    private readonly work: (item: JsMsg) => Promise<void>,
  ) {
    this.free = workers;
  }

  /** Runs until the signal aborts, and then finishes items in progress. */
  async run(): Promise<void> {
    while (!this.stopping.aborted) {
      const change = new Promise<void>((resolve) => (this.changed = resolve));
      if (this.free > 0 && this.pulls < PULLS_MAX) this.start(this.pull());
      else await change;
    }
    while (this.busy.size > 0) await Promise.all(this.busy);
  }

  private start(doing: Promise<void>): void {
    const done = doing.finally(() => {
      this.busy.delete(done);
      this.changed();
    });
    this.busy.add(done);
  }

  private async pull(): Promise<void> {
    this.free--;
    this.pulls++;
    const item = await this.take();
    this.pulls--;
    this.changed();
    if (item) await this.work(item);
    this.free++;
  }

  /** The next item; undefined after a timeout, after a failure, or at the end. */
  private async take(): Promise<JsMsg | undefined> {
    try {
      const consumer = await (this.consumer ??= this.find());
      return await this.takeOf(consumer);
    } catch {
      // The server is unavailable, or has lost its data and must be set up again. The log still holds the work.
      this.consumer = undefined;
      await pause(RETRY_MS, this.stopping);
      return undefined;
    }
  }

  private async takeOf(consumer: Consumer): Promise<JsMsg | undefined> {
    const items = await consumer.fetch({ max_messages: 1, expires: PULL_MS, idle_heartbeat: PULL_HEARTBEAT_MS });
    const stop = () => items.stop();
    this.stopping.addEventListener('abort', stop, { once: true });
    if (this.stopping.aborted) stop();
    try {
      for await (const item of items) return item;
      return undefined;
    } finally {
      this.stopping.removeEventListener('abort', stop);
    }
  }
}
