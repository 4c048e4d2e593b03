/** Which of the events in hand are done, and up to where all of them are: done out of order, checkpointed in order. */
export class Window {
  private readonly open: { position: bigint; done: boolean }[] = [];
  private passed: bigint;

  constructor(position: bigint) {
    this.passed = position;
  }

  /** Up to here nothing is left to do. */
  get position(): bigint {
    return this.passed;
  }

  get size(): number {
    return this.open.length;
  }

  /** Takes an event in hand; the function it gives says that it is done. */
  add(position: bigint): () => void {
    const entry = { position, done: false };
    this.open.push(entry);
    return () => {
      entry.done = true;
      this.advance();
    };
  }

  /** Nothing before this position is still to come. */
  considered(position: bigint): void {
    this.add(position)();
  }

  private advance(): void {
    while (this.open[0]?.done) this.passed = this.open.shift()!.position;
  }
}
