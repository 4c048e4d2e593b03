/** Work that takes a slot only inside `withSlot`. Waiting outside of it takes none. */
type Work = (withSlot: <T>(work: () => Promise<T>) => Promise<T>) => Promise<void>;

/** Work of one key runs in order, work of different keys concurrently. Both the running and all queued work are bounded. */
export class KeyedQueue {
  private readonly tails = new Map<string, Promise<void>>();
  private readonly waitingForSlot: (() => void)[] = [];
  private readonly waitingForRoom: (() => void)[] = [];
  private busy = 0;
  private inHand = 0;

  constructor(
    private readonly concurrency: number,
    private readonly inHandMax: number,
  ) {}

  /** Resolves when the queue has room. */
  async room(): Promise<void> {
    if (this.inHand >= this.inHandMax) await new Promise<void>((resolve) => this.waitingForRoom.push(resolve));
  }

  add(key: string, work: Work): void {
    this.inHand++;
    const before = this.tails.get(key) ?? Promise.resolve();
    const tail = before
      .then(() => work((inSlot) => this.withSlot(inSlot)))
      .finally(() => {
        this.inHand--;
        if (this.tails.get(key) === tail) this.tails.delete(key);
        this.waitingForRoom.shift()?.();
      });
    this.tails.set(key, tail);
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.tails.size > 0) await Promise.allSettled(this.tails.values());
  }

  private async withSlot<T>(work: () => Promise<T>): Promise<T> {
    if (this.busy >= this.concurrency) await new Promise<void>((resolve) => this.waitingForSlot.push(resolve));
    else this.busy++;
    try {
      return await work();
    } finally {
      const next = this.waitingForSlot.shift();
      if (next) next();
      else this.busy--;
    }
  }
}
