import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import {
  AddressRefused,
  OutgoingFailed,
  type OutgoingHttp,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing-http.port.js';
import { textOf } from '../../../platform/outgoing/response-text.policy.js';
import { pageExtension } from './page-kind.policy.js';
import { PAGE_URL_CHARACTERS_MAX, type RemoteLimits } from './remote-limits.js';

const REASON_CHARACTERS_MAX = 300;
const TEXT_EXTENSIONS = new Set(['csv', 'html', 'json', 'md', 'mdx', 'rst', 'txt']);
const ACCEPT = 'text/html, text/*;q=0.9, application/pdf;q=0.9, application/json;q=0.8, */*;q=0.1';
/** These may be over soon. */
const STATUSES_TO_WAIT_OUT = new Set([408, 425, 429]);

const unpack = promisify(gunzip);

/** `url` is where it came from in the end, without a place within it; what is no document has no extension. */
export type FetchedPage = Readonly<{ requestedUrl: string; url: string; extension: string | undefined; bytes: Uint8Array }>;

/** Why there is no page, in words for its owner; what is transient may be gone when it is asked for again. */
export class PageNotFetched extends Error {
  override readonly name = 'PageNotFetched';
  constructor(
    reason: string,
    readonly isTransient: boolean,
  ) {
    super(reason.slice(0, REASON_CHARACTERS_MAX));
  }
}

/** Fetches one address after another, each within limits and through the guard of what leaves this machine. */
export class PageFetcher {
  private readonly late: AbortSignal;
  private readonly either: AbortSignal;

  /** The time for all pages together begins now. */
  constructor(
    private readonly http: OutgoingHttp,
    private readonly limits: RemoteLimits,
    private readonly signal: AbortSignal,
  ) {
    this.late = AbortSignal.timeout(limits.totalMs);
    this.either = AbortSignal.any([signal, this.late]);
  }

  /** A document as a parser takes it: text in UTF-8 where the answer says what it was in. */
  page(requestedUrl: string): Promise<FetchedPage | PageNotFetched> {
    return this.attempted(async () => {
      const response = await this.answer(requestedUrl);
      const type = response.headers['content-type'];
      const extension = pageExtension(type, response.url);
      const isText = extension !== undefined && TEXT_EXTENSIONS.has(extension) && /charset\s*=/i.test(type ?? '');
      const bytes = isText ? new TextEncoder().encode(textOf(response)) : response.body;
      return { requestedUrl, url: withoutPlace(response.url), extension, bytes };
    });
  }

  /** A text of whatever type, also one that is stored packed. */
  text(url: string): Promise<string | PageNotFetched> {
    return this.attempted(async () => {
      const response = await this.answer(url);
      const isPacked = response.body[0] === 0x1f && response.body[1] === 0x8b;
      return textOf(isPacked ? { ...response, body: await this.unpacked(response.body) } : response);
    });
  }

  /** @throws the signal's reason */
  private async attempted<T>(work: () => Promise<T>): Promise<T | PageNotFetched> {
    try {
      return await work();
    } catch (error) {
      this.signal.throwIfAborted();
      if (error instanceof PageNotFetched) return error;
      if (this.late.aborted) return new PageNotFetched('There was no time left to fetch it.', true);
      throw error;
    }
  }

  private async answer(url: string): Promise<OutgoingResponse> {
    const { pageMs: timeoutMs, pageBytesMax: responseBytesMax } = this.limits;
    const asked = { method: 'GET', headers: { accept: ACCEPT }, timeoutMs, responseBytesMax, signal: this.either };
    const response = await this.http.request(url, asked).catch((error: unknown) => {
      if (error instanceof AddressRefused) throw new PageNotFetched(error.message, false);
      if (error instanceof OutgoingFailed) throw new PageNotFetched(error.message, true);
      throw error;
    });
    const { status } = response;
    if (status >= 300) {
      throw new PageNotFetched(`It answered with HTTP status ${status}.`, status >= 500 || STATUSES_TO_WAIT_OUT.has(status));
    }
    if (response.truncated) throw new PageNotFetched(`It is larger than ${responseBytesMax} bytes.`, false);
    if (response.url.length > PAGE_URL_CHARACTERS_MAX) {
      throw new PageNotFetched(`It leads to an address of more than ${PAGE_URL_CHARACTERS_MAX} characters.`, false);
    }
    return response;
  }

  private async unpacked(packed: Uint8Array): Promise<Uint8Array> {
    const { pageBytesMax: maxOutputLength } = this.limits;
    return unpack(packed, { maxOutputLength }).catch(() => {
      throw new PageNotFetched(`It cannot be unpacked to ${maxOutputLength} bytes or less.`, false);
    });
  }
}

function withoutPlace(address: string): string {
  const url = new URL(address);
  url.hash = '';
  return url.href;
}
