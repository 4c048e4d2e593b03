import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { OutgoingHttp, OutgoingResponse } from '../../../platform/outgoing/outgoing-http.port.js';
import { textOf } from '../../../platform/outgoing/response-text.policy.js';
import { pageExtension } from './page-kind.policy.js';
import { PAGE_URL_CHARACTERS_MAX, type RemoteLimits } from './remote-limits.js';
import { PageNotFetched, refusedBy, RemoteRequests } from './remote-requests.js';

const TEXT_EXTENSIONS = new Set(['csv', 'html', 'json', 'md', 'mdx', 'rst', 'txt']);
const ACCEPT = 'text/html, text/*;q=0.9, application/pdf;q=0.9, application/json;q=0.8, */*;q=0.1';
const unpack = promisify(gunzip);

/**
 * A page. `url` is its address after redirects, without the fragment. `extension` is undefined if it is not a readable document.
 */
export type FetchedPage = Readonly<{ requestedUrl: string; url: string; extension: string | undefined; bytes: Uint8Array }>;

/** Fetches pages within the limits, through the guard of outgoing requests. */
export class PageFetcher {
  private readonly requests: RemoteRequests;

  /** Starts the time limit for all pages together. */
  constructor(
    http: OutgoingHttp,
    private readonly limits: RemoteLimits,
    signal: AbortSignal,
  ) {
    this.requests = new RemoteRequests(http, limits, signal);
  }

  /** Whether the time for all pages is over. @throws the signal's reason */
  get isLate(): boolean {
    return this.requests.isLate;
  }

  /** Fetches a document. Text with a declared charset is converted to UTF-8. */
  page(requestedUrl: string): Promise<FetchedPage | PageNotFetched> {
    return this.requests.attempted(async () => {
      const response = await this.answer(requestedUrl);
      const type = response.headers['content-type'];
      const extension = pageExtension(type, response.url);
      const isText = extension !== undefined && TEXT_EXTENSIONS.has(extension) && /charset\s*=/i.test(type ?? '');
      const bytes = isText ? new TextEncoder().encode(textOf(response)) : response.body;
      return { requestedUrl, url: withoutPlace(response.url), extension, bytes };
    });
  }

  /** Fetches text of any type, also if it is a gzip file. */
  text(url: string): Promise<string | PageNotFetched> {
    return this.requests.attempted(async () => {
      const response = await this.answer(url);
      const isPacked = response.body[0] === 0x1f && response.body[1] === 0x8b;
      return textOf(isPacked ? { ...response, body: await this.unpacked(response.body) } : response);
    });
  }

  private async answer(url: string): Promise<OutgoingResponse> {
    const { pageBytesMax: responseBytesMax } = this.limits;
    const response = await this.requests.send(url, { accept: ACCEPT });
    if (response.status >= 300) throw refusedBy(response.status);
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
