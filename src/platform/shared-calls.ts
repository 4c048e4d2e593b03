type Waiting<Request, Found> = Readonly<{
  request: Request;
  deadline: number;
  resolve: (found: Found) => void;
  reject: (error: unknown) => void;
}>;

/** The bounds of shared calls, by default those of reads of a database. */
type Options = Readonly<{
  /** Maximum number of calls in progress: one in the server and one in transit. */
  callsMax?: number;
  /** Maximum number of requests in a call. Each may return a page, and all wait for the largest. */
  requestsMax?: number;
  /** Whether an error may concern only one of the requests. Sending them one by one keeps that one from failing the others. */
  concernsOne?: (error: unknown) => boolean;
}>;

export const SHARED_CALLS_MAX = 2;
export const SHARED_REQUESTS_MAX = 16;

/** Combines concurrent requests into shared calls, so that many callers need as many round trips as a few. */
export class SharedCalls<Request, Found> {
  private waiting: Waiting<Request, Found>[] = [];
  private inFlight = 0;
  private scheduled = false;
  private readonly options: Required<Options>;

  /** @param together returns the result of each request in their order, or throws within `timeoutMs` */
  constructor(
    private readonly together: (requests: readonly Request[], timeoutMs: number) => Promise<readonly Found[]>,
    options: Options = {},
  ) {
    this.options = { callsMax: SHARED_CALLS_MAX, requestsMax: SHARED_REQUESTS_MAX, concernsOne: () => false, ...options };
  }

  /** @param deadline in milliseconds of `performance.now`, or Infinity. @throws what the shared call throws */
  call(request: Request, deadline: number): Promise<Found> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, deadline, resolve, reject });
      this.schedule();
    });
  }

  /** Sends at the end of this turn of the event loop, when the requests of many clients have been received. */
  private schedule(): void {
    if (this.scheduled || this.inFlight === this.options.callsMax || this.waiting.length === 0) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      void this.dispatch(this.waiting.splice(0, this.options.requestsMax));
      this.schedule();
    });
  }

  private async dispatch(requests: readonly Waiting<Request, Found>[]): Promise<void> {
    this.inFlight++;
    await this.send(requests);
    this.inFlight--;
    this.schedule();
  }

  /**
   * A call may last until the latest deadline of its requests, because one that has waited for long must not fail the others. So a
   * request may be answered later than its own deadline.
   */
  private async send(waiting: readonly Waiting<Request, Found>[]): Promise<void> {
    try {
      const requests = waiting.map(({ request }) => request);
      const until = Math.max(...waiting.map(({ deadline }) => deadline));
      const found = await this.together(requests, Math.max(1, until - performance.now()));
      waiting.forEach(({ resolve }, place) => resolve(found[place]!));
    } catch (error) {
      if (waiting.length > 1 && this.options.concernsOne(error)) for (const each of waiting) await this.send([each]);
      else for (const { reject } of waiting) reject(error);
    }
  }
}
