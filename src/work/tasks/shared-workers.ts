import { Turns } from '../../kernel/turns.js';
import type { WorkerLimits } from './task-runner.port.js';

/** Maximum number of unacknowledged nudges of waiting tasks. If this worker crashes, the queue delivers them to another one. */
const NUDGES_HELD_MAX = 256;
/** Maximum number of waiting tasks of a worker. The sweep enqueues the others again. */
const TASKS_WAITING_MAX = 10_000;

type Waiting = Readonly<{ taskId: string; ownerId: string; work: () => Promise<void>; letGo: () => void; passBack: () => void }>;

/**
 * The workers for tasks of one kind, shared fairly between owners: owners with fewer running tasks go first. A queue delivers
 * nudges in order, so all of them are taken from it and wait here.
 */
export class SharedWorkers {
  private readonly waiting = new Turns<Waiting>();
  private readonly waitingIds = new Set<string>();
  private readonly inHandByOwner = new Map<string, number>();
  private readonly inHand = new Set<Promise<void>>();
  private isClosed = false;

  constructor(
    private readonly workers: WorkerLimits,
    private readonly limits = { heldMax: NUDGES_HELD_MAX, waitingMax: TASKS_WAITING_MAX },
  ) {}

  /** Maximum number of nudges that the queue may deliver at the same time. There is always room for one more. */
  get nudgesMax(): number {
    return this.workers.max + this.limits.heldMax + 1;
  }

  /**
   * Resolves when the nudge can be acknowledged: the work is done, or too many nudges are held. Rejects if the queue has to deliver
   * the nudge again: the work has failed, or this worker stops.
   */
  take(taskId: string, ownerId: string, work: () => Promise<void>): Promise<void> {
    if (this.isClosed) return Promise.reject(stopping());
    if (this.waitingIds.has(taskId)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const done = () => work().then(resolve, reject);
      this.waiting.add(ownerId, { taskId, ownerId, work: done, letGo: resolve, passBack: () => reject(stopping()) });
      this.waitingIds.add(taskId);
      this.next();
      if (this.waiting.size > this.limits.heldMax) resolve();
      if (this.waiting.size > this.limits.waitingMax) this.letGo(this.waiting.giveUp()!);
    });
  }

  /** Passes the nudges of waiting tasks back to the queue, for other workers, and resolves when the running ones are done. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (let next; (next = this.waiting.next());) next.passBack();
    await Promise.all(this.inHand);
  }

  private next(): void {
    while (this.inHand.size < this.workers.max) {
      const next = this.waiting.next((ownerId) => this.rankOf(ownerId));
      if (!next) return;
      this.waitingIds.delete(next.taskId);
      this.begin(next);
    }
  }

  private rankOf(ownerId: string): number {
    const inHand = this.inHandByOwner.get(ownerId) ?? 0;
    return inHand < this.workers.perOwnerMax ? inHand : Infinity;
  }

  private begin({ ownerId, work }: Waiting): void {
    this.count(ownerId, 1);
    const done = work().finally(() => {
      this.inHand.delete(done);
      this.count(ownerId, -1);
      this.waiting.done(ownerId);
      this.next();
    });
    this.inHand.add(done);
  }

  private count(ownerId: string, change: 1 | -1): void {
    const inHand = (this.inHandByOwner.get(ownerId) ?? 0) + change;
    if (inHand === 0) this.inHandByOwner.delete(ownerId);
    else this.inHandByOwner.set(ownerId, inHand);
  }

  private letGo({ taskId, letGo }: Waiting): void {
    this.waitingIds.delete(taskId);
    letGo();
  }
}

const stopping = (): Error => new Error('The worker stops.');
