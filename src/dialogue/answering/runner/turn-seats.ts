/** Limits the number of concurrent turns to `max`. Turns from the queue wait for a free seat in the order of their arrival. */
export class TurnSeats {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly max: number) {}

  /** Takes a seat if one is free. The returned function gives it back. */
  tryTake(): (() => void) | undefined {
    if (this.taken >= this.max) return undefined;
    this.taken++;
    return this.seat();
  }

  /** Takes a seat as soon as one is free. The returned function gives it back. */
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
