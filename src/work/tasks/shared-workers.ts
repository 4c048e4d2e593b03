import { Turns } from '../../kernel/turns.js';
import type { WorkerLimits } from './task-runner.port.js';

/** So many nudges are held while their tasks wait, so that the queue hands them to another worker if this one dies. */
const NUDGES_HELD_MAX = 256;
/** How many tasks may wait at a worker; the sweep enqueues the others again. */
const TASKS_WAITING_MAX = 10_000;

type Waiting = Readonly<{ taskId: string; ownerId: string; work: () => Promise<void>; letGo: () => void }>;

/**
 * Hands for tasks of one kind, in which owners take turns: those who have fewer tasks in hand go first. A queue gives nudges in the
 * order in which they came, so all of them are taken from it at once, to wait here.
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

  /** How many nudges a queue may give at once, so that there is always room for one more. */
  get nudgesMax(): number {
    return this.workers.max + this.limits.heldMax + 1;
  }

  /** Resolves when the nudge need not be held any more: the work is done, or is left to others, or too many nudges are held. */
  take(taskId: string, ownerId: string, work: () => Promise<void>): Promise<void> {
    if (this.isClosed || this.waitingIds.has(taskId)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const done = () => work().then(resolve, reject);
      this.waiting.add(ownerId, { taskId, ownerId, work: done, letGo: resolve });
      this.waitingIds.add(taskId);
      this.next();
      if (this.waiting.size > this.limits.heldMax) resolve();
      if (this.waiting.size > this.limits.waitingMax) this.letGo(this.waiting.giveUp()!);
    });
  }

  /** What waits is left to others; resolves when nothing is in hand any more. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (let next; (next = this.waiting.next());) this.letGo(next);
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
