import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { pause } from '../nats/nats-connection.js';

const PULL_MS = 30_000;
const PULL_HEARTBEAT_MS = 5_000;
const RETRY_MS = 500;
/**
 * Requests for an item that a worker has open at a time. The server answers one worker's before the next one's, so this is
 * also how many items of a burst go to one worker while another has nothing to do; and it keeps some hundreds in all.
 */
const PULLS_MAX = 4;

/**
 * Takes items for a number of workers. A pull asks for one item and holds a worker until it has got it or ends, so no item waits
 * in this process for a hand while another process has one free.
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
    /** Makes sure of the consumer on the server. */
    private readonly find: () => Promise<Consumer>,
    private readonly work: (item: JsMsg) => Promise<void>,
  ) {
    this.free = workers;
  }

  /** Until the signal aborts; then what is in hand is finished. */
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

  /** The next item, or undefined: after a while without one, after a failure, at the end. */
  private async take(): Promise<JsMsg | undefined> {
    try {
      const consumer = await (this.consumer ??= this.find());
      return await this.takeOf(consumer);
    } catch {
      // The server is away, or was emptied and has to be set up again: what is due is still due.
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
