import {
  AddressRefused,
  OutgoingFailed,
  type OutgoingHttp,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing-http.port.js';
import type { RemoteLimits } from './remote-limits.js';
import { cutText } from '../../../kernel/cut-text.js';

const REASON_CHARACTERS_MAX = 300;

/** Why a page or file was not fetched, in words for the owner. `isTransient`: a later attempt may succeed. */
export class PageNotFetched extends Error {
  override readonly name = 'PageNotFetched';
  constructor(
    reason: string,
    readonly isTransient: boolean,
  ) {
    super(cutText(reason, REASON_CHARACTERS_MAX));
  }
}

/** Client errors that may be temporary. */
const STATUSES_TO_WAIT_OUT = new Set([408, 425, 429]);

/** The failure for an HTTP status that is not a success. */
export const refusedBy = (status: number): PageNotFetched =>
  new PageNotFetched(`It answered with HTTP status ${status}.`, status >= 500 || STATUSES_TO_WAIT_OUT.has(status));

/** Sends the requests of one ingestion within the limits, through the guard of outgoing requests. */
export class RemoteRequests {
  readonly signal: AbortSignal;
  private readonly late: AbortSignal;

  /** Starts the time limit for all requests together. */
  constructor(
    private readonly http: OutgoingHttp,
    private readonly limits: RemoteLimits,
    private readonly given: AbortSignal,
  ) {
    this.late = AbortSignal.timeout(limits.totalMs);
    this.signal = AbortSignal.any([given, this.late]);
  }

  /** Whether the time for all requests is over. @throws the signal's reason */
  get isLate(): boolean {
    this.given.throwIfAborted();
    return this.late.aborted;
  }

  /** Returns the answer with any status. @throws PageNotFetched */
  async send(
    url: string,
    headers: Readonly<Record<string, string>>,
    responseBytesMax = this.limits.pageBytesMax,
  ): Promise<OutgoingResponse> {
    const asked = { method: 'GET', headers, timeoutMs: this.limits.pageMs, responseBytesMax, signal: this.signal };
    return this.http.request(url, asked).catch((error: unknown) => {
      if (error instanceof AddressRefused) throw new PageNotFetched(error.message, false);
      if (error instanceof OutgoingFailed) throw new PageNotFetched(error.message, true);
      throw error;
    });
  }

  /** Returns a PageNotFetched that the work throws, and one if the time is over. @throws the signal's reason */
  async attempted<T>(work: () => Promise<T>): Promise<T | PageNotFetched> {
    try {
      return await work();
    } catch (error) {
      this.given.throwIfAborted();
      if (error instanceof PageNotFetched) return error;
      if (this.late.aborted) return new PageNotFetched('There was no time left to fetch it.', true);
      throw error;
    }
  }
}
