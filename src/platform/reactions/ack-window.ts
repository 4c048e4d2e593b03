/** Which of the events in hand are done, and up to where all of them are: done out of order, checkpointed in order. */
export class AckWindow {
  private readonly open: { position: bigint; at: Date | null; done: boolean }[] = [];
  private passed: bigint;
  private passedAt: Date | null = null;
  private passedCount = 0;

  constructor(position: bigint) {
    this.passed = position;
  }

  /** Up to here nothing is left to do. */
  get position(): bigint {
    return this.passed;
  }

  /** When the newest event before that position was recorded, null before the first. */
  get eventAt(): Date | null {
    return this.passedAt;
  }

  /** How many events before that position were taken in hand. */
  get done(): number {
    return this.passedCount;
  }

  get size(): number {
    return this.open.length;
  }

  /** Takes an event in hand; the function it gives says that it is done. */
  add(position: bigint, at: Date | null = null): () => void {
    const entry = { position, at, done: false };
    this.open.push(entry);
    return () => {
      entry.done = true;
      this.advance();
    };
  }

  /** Nothing before this position is still to come. */
  considered(position: bigint): void {
    const last = this.open.at(-1);
    // While one event is waited for, stretches without any go by: they are one.
    if (last?.done && last.at === null) last.position = position;
    else this.add(position)();
  }

  private advance(): void {
    while (this.open[0]?.done) {
      const { position, at } = this.open.shift()!;
      this.passed = position;
      this.passedAt = at ?? this.passedAt;
      if (at) this.passedCount++;
    }
  }
}
