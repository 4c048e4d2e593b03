/** Room for so many turns at once. Turns from the queue wait for it, first come, first served. */
export class TurnSeats {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly max: number) {}

  /** A seat, if one is free; the answer gives it back. */
  tryTake(): (() => void) | undefined {
    if (this.taken >= this.max) return undefined;
    this.taken++;
    return this.seat();
  }

  /** A seat, as soon as one is free. */
  async take(): Promise<() => void> {
    const seat = this.tryTake();
    if (seat) return seat;
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    return this.seat();
  }

  private seat(): () => void {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const next = this.waiting.shift();
      if (next) next();
      else this.taken--;
    };
  }
}
