import { type Rank, Turns } from '../../kernel/turns.js';

type Waiting<Reply> = Readonly<{
  ownerId: string;
  work: () => Promise<Reply>;
  resolve: (reply: Promise<Reply>) => void;
}>;

/** A queue that works on one document at a time. Owners take turns. */
export class DocumentLane<Reply> {
  private readonly turns = new Turns<Waiting<Reply>>();
  private inHand: string | undefined;

  constructor(private readonly rank?: Rank) {}

  get waiting(): number {
    return this.turns.size;
  }

  /** The number of an owner's documents that wait or are being worked on. */
  of(ownerId: string): number {
    return this.turns.of(ownerId) + (this.inHand === ownerId ? 1 : 0);
  }

  /** Starts the work at the owner's turn, unless the signal aborts before. */
  async ask(ownerId: string, signal: AbortSignal, work: () => Promise<Reply>): Promise<Reply> {
    signal.throwIfAborted();
    let giveUp = (): void => undefined;
    try {
      return await new Promise<Reply>((resolve, reject) => {
        const waiting = { ownerId, work, resolve };
        giveUp = () => {
          this.turns.remove(waiting);
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', giveUp);
        this.turns.add(ownerId, waiting);
        this.next();
      });
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  private next(): void {
    if (this.inHand !== undefined) return;
    const next = this.turns.next(this.rank);
    if (!next) return;
    this.inHand = next.ownerId;
    const reply = next.work().finally(() => {
      this.inHand = undefined;
      this.turns.done(next.ownerId);
      this.next();
    });
    next.resolve(reply);
  }
}
