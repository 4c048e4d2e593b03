export type StopwatchLimits = Readonly<{
  /** From the request to the first piece of the answer. */
  firstTokenMs: number;
  /** Between two pieces. */
  idleMs: number;
  /** For the whole answer. */
  totalMs: number;
}>;

/** Ends a request that takes too long, or whose caller is gone. Time that its reader takes does not count as the endpoint's. */
export class Stopwatch {
  private readonly ending = new AbortController();
  private readonly total: NodeJS.Timeout;
  private waiting: NodeJS.Timeout;
  private resting = false;
  private readonly stop = () => this.ending.abort();
  /** Which limit was reached. */
  expired: keyof StopwatchLimits | undefined;

  constructor(
    private readonly limits: StopwatchLimits,
    private readonly outer: AbortSignal,
  ) {
    this.total = setTimeout(() => this.expire('totalMs'), limits.totalMs);
    this.waiting = setTimeout(() => this.expire('firstTokenMs'), limits.firstTokenMs);
    if (outer.aborted) this.stop();
    outer.addEventListener('abort', this.stop, { once: true });
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** The first piece has come: from now on the pause between pieces counts. */
  started(): void {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      if (!this.resting) this.expire('idleMs');
    }, this.limits.idleMs);
  }

  rest(): void {
    this.resting = true;
  }

  resume(): void {
    this.resting = false;
    this.waiting.refresh();
  }

  /** Ends the request, if it has not ended by itself. */
  close(): void {
    this.settle();
    this.stop();
  }

  /** Lets the request end by itself for a moment, so that its connection can be used again. */
  closeAfter(ms: number): void {
    this.settle();
    setTimeout(this.stop, ms).unref();
  }

  private settle(): void {
    clearTimeout(this.total);
    clearTimeout(this.waiting);
    this.outer.removeEventListener('abort', this.stop);
  }

  private expire(limit: keyof StopwatchLimits): void {
    this.expired ??= limit;
    this.stop();
  }
}
