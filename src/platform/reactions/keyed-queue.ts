/** Runs a piece of work when its turn comes; what it does outside of `turn` (waiting, for one) takes no place. */
type Work = (turn: <T>(work: () => Promise<T>) => Promise<T>) => Promise<void>;

/** Work in lanes: in order within one, side by side across them, a bounded number at a time and a bounded number in hand. */
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

  /** Resolves when there is room for one more. */
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

  /** Resolves when nothing is in hand. */
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
