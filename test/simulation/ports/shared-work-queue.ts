import { ATTEMPTS_MAX, DEDUPLICATION_MS, retryDelayMs, type WorkQueue } from '../../../src/kernel/messaging/work-queue.js';
import type { Seeded } from '../../support/seeded.js';
import { type Actor, isAlive, type Life, lifeOf } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Network } from './network.js';

/** The time after which an item of a crashed worker is given to another one. */
const REDELIVERED_AFTER_MS = 5_000;
/** The port allows lost items, because sweeps find the work in the log. Once all faults have ended, none is lost. */
const LOST_ONE_IN = 15;
const DOUBLED_ONE_IN = 15;

type Handler = (payload: string) => Promise<void>;
type Worker = { readonly of: Life; free: number; readonly handler: Handler };
type Item = { readonly payload: string; attempts: number };

/** The work queue that all processes share: delivers at least once, in any order, and sometimes not at all. */
export class SharedWorkQueue {
  losesUntilMs = Infinity;
  private readonly workers = new Map<string, Set<Worker>>();
  private readonly waiting = new Map<string, Item[]>();
  private readonly seen = new Map<string, number>();
  private readonly random: Seeded;

  constructor(
    private readonly simulation: Simulation,
    private readonly network: Network,
  ) {
    this.random = simulation.random('work queue');
  }

  of(actor: Actor): WorkQueue {
    return {
      enqueue: (queue, id, payload) => this.network.call(actor, `enqueue ${queue} ${id}`, () => this.add(queue, id, payload)),
      consume: (queue, { concurrency, signal }, handler) => this.consume(actor, queue, concurrency, signal, handler),
    };
  }

  private add(queue: string, id: string, payload: string): void {
    const { nowMs } = this.simulation;
    const key = `${queue} ${id}`;
    if ((this.seen.get(key) ?? -Infinity) > nowMs) return;
    this.seen.set(key, nowMs + DEDUPLICATION_MS);
    if (this.random.oneIn(LOST_ONE_IN) && nowMs < this.losesUntilMs) return;
    this.offer(queue, { payload, attempts: 0 });
    if (this.random.oneIn(DOUBLED_ONE_IN)) this.offer(queue, { payload, attempts: 0 });
  }

  private offer(queue: string, item: Item): void {
    const items = this.waiting.get(queue) ?? [];
    this.waiting.set(queue, items);
    items.push(item);
    this.dispatch(queue);
  }

  private consume(actor: Actor, queue: string, free: number, signal: AbortSignal, handler: Handler): Promise<void> {
    const worker: Worker = { of: lifeOf(actor), free, handler };
    const all = this.workers.get(queue) ?? new Set();
    this.workers.set(queue, all.add(worker));
    this.dispatch(queue);
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        all.delete(worker);
        resolve();
      });
    });
  }

  private dispatch(queue: string): void {
    const items = this.waiting.get(queue) ?? [];
    while (items.length > 0) {
      const able = [...(this.workers.get(queue) ?? [])].filter(({ of, free }) => isAlive(of) && free > 0);
      const worker = able[this.random.between(0, able.length - 1)];
      if (!worker) return;
      this.start(queue, worker, items.splice(this.random.between(0, items.length - 1), 1)[0]!);
    }
  }

  private start(queue: string, worker: Worker, item: Item): void {
    worker.free--;
    item.attempts++;
    let isDone = false;
    const over = (isToBeTriedAgain: boolean) => {
      isDone = true;
      worker.free++;
      if (isToBeTriedAgain && item.attempts < ATTEMPTS_MAX) this.later(queue, item, retryDelayMs(item.attempts));
      this.dispatch(queue);
    };
    this.simulation.afterFor(this.network.delayMs(), worker.of, `takes ${queue} ${item.payload.slice(0, 60)}`, () => {
      worker.handler(item.payload).then(
        () => over(false),
        () => over(true),
      );
    });
    const look = () => {
      if (isDone) return;
      if (isAlive(worker.of)) this.simulation.after(REDELIVERED_AFTER_MS, this.simulation.world, 'the queue looks', look);
      else this.offer(queue, item);
    };
    this.simulation.after(REDELIVERED_AFTER_MS, this.simulation.world, 'the queue looks', look);
  }

  private later(queue: string, item: Item, ms: number): void {
    this.simulation.after(ms, this.simulation.world, `${queue} tries again`, () => this.offer(queue, item));
  }
}
