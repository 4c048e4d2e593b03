/** Work that takes a slot only inside `turn`. Waiting outside of it takes none. */
type Work = (turn: <T>(work: () => Promise<T>) => Promise<T>) => Promise<void>;

/**
 * A queue with lanes: work of one key runs in order, work of different keys concurrently. Both the running and all queued are
 * bounded.
 */
export class KeyedQueue {
  private readonly tails = new Map<string, Promise<void>>();
  private readonly waitingForTurn: (() => void)[] = [];
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

  add(lane: string, work: Work): void {
    this.inHand++;
    const before = this.tails.get(lane) ?? Promise.resolve();
    const tail = before
      .then(() => work((turn) => this.turn(turn)))
      .finally(() => {
        this.inHand--;
        if (this.tails.get(lane) === tail) this.tails.delete(lane);
        this.waitingForRoom.shift()?.();
      });
    this.tails.set(lane, tail);
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.tails.size > 0) await Promise.allSettled(this.tails.values());
  }

  private async turn<T>(work: () => Promise<T>): Promise<T> {
    if (this.busy >= this.concurrency) await new Promise<void>((resolve) => this.waitingForTurn.push(resolve));
    else this.busy++;
    try {
      return await work();
    } finally {
      const next = this.waitingForTurn.shift();
      if (next) next();
      else this.busy--;
    }
  }
}
