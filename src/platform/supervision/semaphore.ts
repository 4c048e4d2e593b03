/** Runs a limited number of pieces of work at a time. The others wait in order. */
export class Semaphore {
  private readonly waiting: (() => void)[] = [];

  constructor(private permits: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.permits > 0) this.permits--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The permit passes on to who waits first.
      const next = this.waiting.shift();
      if (next) next();
      else this.permits++;
    }
  }
}
