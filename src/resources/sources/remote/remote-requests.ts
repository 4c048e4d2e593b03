import {
  AddressRefused,
  OutgoingFailed,
  type OutgoingHttp,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing-http.port.js';
import type { RemoteLimits } from './remote-limits.js';

const REASON_CHARACTERS_MAX = 300;

/** Why there is no page or file, in words for its owner; what is transient may be gone when it is asked for again. */
export class PageNotFetched extends Error {
  override readonly name = 'PageNotFetched';
  constructor(
    reason: string,
    readonly isTransient: boolean,
  ) {
    super(reason.slice(0, REASON_CHARACTERS_MAX));
  }
}

/** These may be over soon. */
const STATUSES_TO_WAIT_OUT = new Set([408, 425, 429]);

/** What an answer without a body to read means. */
export const refusedBy = (status: number): PageNotFetched =>
  new PageNotFetched(`It answered with HTTP status ${status}.`, status >= 500 || STATUSES_TO_WAIT_OUT.has(status));

/** The requests of one ingestion, each within limits and through the guard of what leaves this machine. */
export class RemoteRequests {
  readonly signal: AbortSignal;
  private readonly late: AbortSignal;

  /** The time for all requests together begins now. */
  constructor(
    private readonly http: OutgoingHttp,
    private readonly limits: RemoteLimits,
    private readonly given: AbortSignal,
  ) {
    this.late = AbortSignal.timeout(limits.totalMs);
    this.signal = AbortSignal.any([given, this.late]);
  }

  /** The answer, whatever its status. @throws PageNotFetched */
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

  /** @throws the signal's reason */
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
