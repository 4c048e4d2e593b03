export type StopwatchLimits = Readonly<{
  /** From the request to the first delta of the answer. */
  firstTokenMs: number;
  /** Between two deltas. */
  idleMs: number;
  /** For the whole answer. */
  totalMs: number;
}>;

/** One reason for all requests. Nobody reads it, and making one takes a stack trace. */
const OVER = new DOMException('The request is over.', 'AbortError');

/** Aborts a request that takes too long or whose caller has aborted. Time that the reader takes does not count toward `idleMs`. */
export class Stopwatch {
  private readonly ending = new AbortController();
  private readonly total: NodeJS.Timeout;
  private waiting: NodeJS.Timeout;
  private resting = false;
  private hasBegun = false;
  private readonly stop = () => this.ending.abort(OVER);
  /** The limit that was exceeded, if any. */
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

  /** A delta has arrived. From the first one on `idleMs` applies. */
  heard(): void {
    if (this.hasBegun) return void this.waiting.refresh();
    this.hasBegun = true;
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

  /** Aborts the request if it is still running. */
  close(): void {
    this.settle();
    this.stop();
  }

  /** Lets the request end by itself. */
  settle(): void {
    clearTimeout(this.total);
    clearTimeout(this.waiting);
    this.outer.removeEventListener('abort', this.stop);
  }

  private expire(limit: keyof StopwatchLimits): void {
    this.expired ??= limit;
    this.stop();
  }
}
