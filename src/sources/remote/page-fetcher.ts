import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AddressRefused, OutgoingFailed, type OutgoingHttp, type OutgoingResponse } from '../../tools/outgoing-http.port.js';
import { textOf } from '../../tools/web/response-text.policy.js';
import { pageExtension } from './page-kind.policy.js';
import type { RemoteLimits } from './remote-limits.js';

const REASON_CHARACTERS_MAX = 300;
const TEXT_EXTENSIONS = new Set(['csv', 'html', 'json', 'md', 'mdx', 'rst', 'txt']);
const ACCEPT = 'text/html, text/*;q=0.9, application/pdf;q=0.9, application/json;q=0.8, */*;q=0.1';
/** These may be over soon. */
const STATUSES_TO_WAIT_OUT = new Set([408, 425, 429]);

const unpack = promisify(gunzip);

/** `url` is where it came from in the end; what is no document has no extension. */
export type FetchedPage = Readonly<{ url: string; extension: string | undefined; bytes: Uint8Array }>;

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
  constructor(
    private readonly http: OutgoingHttp,
    private readonly limits: RemoteLimits,
  ) {}

  /** A document as a parser takes it: text in UTF-8 where the answer says what it was in. @throws PageNotFetched */
  async page(url: string, signal: AbortSignal): Promise<FetchedPage> {
    const response = await this.answer(url, signal);
    const extension = pageExtension(response.headers['content-type'], response.url);
    const isTold = /charset\s*=/i.test(response.headers['content-type'] ?? '');
    const isText = extension !== undefined && TEXT_EXTENSIONS.has(extension) && isTold;
    return { url: response.url, extension, bytes: isText ? new TextEncoder().encode(textOf(response)) : response.body };
  }

  /** A text of whatever type, also one that is stored packed. @throws PageNotFetched */
  async text(url: string, signal: AbortSignal): Promise<string> {
    const response = await this.answer(url, signal);
    const isPacked = response.body[0] === 0x1f && response.body[1] === 0x8b;
    return textOf(isPacked ? { ...response, body: await this.unpacked(response.body) } : response);
  }

  private async answer(url: string, signal: AbortSignal): Promise<OutgoingResponse> {
    const { pageMs: timeoutMs, pageBytesMax: responseBytesMax } = this.limits;
    const asked = { method: 'GET', headers: { accept: ACCEPT }, timeoutMs, responseBytesMax, signal };
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
    return response;
  }

  private async unpacked(packed: Uint8Array): Promise<Uint8Array> {
    const { pageBytesMax: maxOutputLength } = this.limits;
    return unpack(packed, { maxOutputLength }).catch(() => {
      throw new PageNotFetched(`It cannot be unpacked to ${maxOutputLength} bytes or less.`, false);
    });
  }
}
