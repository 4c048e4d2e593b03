import { isPassing } from '../../postgres/database.js';

/** Maximum number of statements in progress: one in the server and one in transit. */
export const SHARED_STATEMENTS_MAX = 2;
/** Maximum number of reads in a statement. Each may return a page, and all wait for the largest. */
export const SHARED_READS_MAX = 16;

type Waiting<Request, Found> = Readonly<{
  request: Request;
  deadline: number;
  resolve: (found: Found) => void;
  reject: (error: unknown) => void;
}>;

/** Combines concurrent reads into shared statements, so that many readers need as many round trips as a few. */
export class SharedReads<Request, Found> {
  private waiting: Waiting<Request, Found>[] = [];
  private inFlight = 0;
  private scheduled = false;

  /** @param read returns the result of each request in their order, or throws within `timeoutMs` */
  constructor(private readonly read: (requests: readonly Request[], timeoutMs: number) => Promise<readonly Found[]>) {}

  /** @param deadline in milliseconds of `performance.now`. @throws what the read throws, at the deadline at the latest */
  find(request: Request, deadline: number): Promise<Found> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, deadline, resolve, reject });
      this.schedule();
    });
  }

  /** Sends at the end of this turn of the event loop, when the requests of many clients have been received. */
  private schedule(): void {
    if (this.scheduled || this.inFlight === SHARED_STATEMENTS_MAX || this.waiting.length === 0) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      void this.dispatch(this.waiting.splice(0, SHARED_READS_MAX));
      this.schedule();
    });
  }

  private async dispatch(reads: readonly Waiting<Request, Found>[]): Promise<void> {
    this.inFlight++;
    await this.send(reads);
    this.inFlight--;
    this.schedule();
  }

  /** The statement's timeout is that of the first read, which has waited longest. Reads with a later deadline may be retried. */
  private async send(reads: readonly Waiting<Request, Found>[]): Promise<void> {
    try {
      const requests = reads.map(({ request }) => request);
      const found = await this.read(requests, Math.max(1, reads[0]!.deadline - performance.now()));
      reads.forEach(({ resolve }, place) => resolve(found[place]!));
    } catch (error) {
      // The server refused the statement. Sending the reads one by one keeps the invalid one from failing the others.
      if (reads.length > 1 && !isPassing(error)) for (const each of reads) await this.send([each]);
      else for (const { reject } of reads) reject(error);
    }
  }
}
