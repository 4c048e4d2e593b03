import { Readable } from 'node:stream';
import type { Blobs } from '../../kernel/blobs.js';
import type { OutgoingHttp } from '../../tools/outgoing-http.port.js';
import type { MissedPage } from '../kept-pages.policy.js';
import type { RemoteOrigin, SourceFile } from '../source.events.js';
import { type FetchedPage, PageFetcher, PageNotFetched } from './page-fetcher.js';
import { pageFilename } from './page-kind.policy.js';
import { linksIn, sitemapEntries } from './page-links.js';
import type { RemoteLimits } from './remote-limits.js';
import { robotsRules } from './robots.policy.js';

/** A sitemap may list sitemaps; so many are read for one source. */
export const SITEMAPS_MAX = 20;
const PAGES_AT_ONCE_MAX = 4;

/** What became of the pages. */
export type GatheredPages = Readonly<{
  files: readonly SourceFile[];
  missed: readonly MissedPage[];
  isCut: boolean;
}>;

/** How far it is, from 0 to 1. */
export type GatheringProgress = (share: number) => Promise<void>;

/** Fetches the pages of a source and keeps their bytes, within the limits of one ingestion. */
export class RemotePages {
  constructor(
    private readonly http: OutgoingHttp,
    private readonly blobs: Blobs,
    private readonly limits: RemoteLimits,
  ) {}

  gather(origin: RemoteOrigin, signal: AbortSignal, progress: GatheringProgress): Promise<GatheredPages> {
    return new Gathering(new PageFetcher(this.http, this.limits), this.blobs, this.limits, signal, progress).of(origin);
  }
}

/** One ingestion's way through the web. */
class Gathering {
  private readonly files: SourceFile[] = [];
  private readonly missed: MissedPage[] = [];
  private readonly names = new Set<string>();
  private readonly seen = new Set<string>();
  private readonly robots = new Map<string, (path: string) => boolean>();
  private readonly late: AbortSignal;
  private readonly either: AbortSignal;
  private asked = 0;
  private bytes = 0;
  private isCut = false;

  constructor(
    private readonly fetcher: PageFetcher,
    private readonly blobs: Blobs,
    private readonly limits: RemoteLimits,
    private readonly signal: AbortSignal,
    private readonly progress: GatheringProgress,
  ) {
    this.late = AbortSignal.timeout(limits.totalMs);
    this.either = AbortSignal.any([signal, this.late]);
  }

  async of({ kind, urls }: RemoteOrigin): Promise<GatheredPages> {
    if (kind === 'crawler') await this.crawl(urls[0]!);
    else await this.read(this.firstSeen(kind === 'sitemap' ? await this.listed(urls) : urls), keepAll);
    const { files, missed, isCut } = this;
    return { files, missed, isCut };
  }

  /** Breadth first, on the host where the first page was found. */
  private async crawl(start: string): Promise<void> {
    let host: string | undefined;
    let level = this.firstSeen([start]);
    for (let depth = 0; level.length > 0; depth++) {
      const found: string[] = [];
      const isWanted = ({ url, extension }: FetchedPage) => {
        host ??= new URL(url).host;
        return new URL(url).host === host && (depth === 0 || extension !== undefined);
      };
      const read = await this.read(await this.allowed(level, depth === 0), isWanted);
      for (const { url, extension, bytes } of read) {
        if (extension === 'html') found.push(...linksIn(new TextDecoder().decode(bytes), url));
      }
      level = this.firstSeen(found.filter((link) => new URL(link).host === host));
      if (depth === this.limits.depthMax && level.length > 0) {
        this.isCut = true;
        return;
      }
    }
  }

  /** What sitemaps list, and those that they list. */
  private async listed(urls: readonly string[]): Promise<readonly string[]> {
    const pages = new Set<string>();
    const sitemaps = [...urls];
    for (let next = 0; next < sitemaps.length; next++) {
      if (next === SITEMAPS_MAX) {
        this.isCut = true;
        break;
      }
      const url = sitemaps[next]!;
      const text = await this.attempted(() => this.fetcher.text(url, this.either));
      if (text instanceof PageNotFetched) {
        this.fail(url, text);
        continue;
      }
      const entries = sitemapEntries(text, url);
      for (const page of entries.pages) pages.add(page);
      for (const sitemap of entries.sitemaps) if (!sitemaps.includes(sitemap)) sitemaps.push(sitemap);
      if (entries.pages.length + entries.sitemaps.length === 0) this.fail(url, new PageNotFetched('It lists no pages.', false));
    }
    return [...pages];
  }

  /** Fetches pages a few at a time and keeps them in their order, however many there may be at most. */
  private async read(urls: readonly string[], isWanted: (page: FetchedPage) => boolean): Promise<readonly FetchedPage[]> {
    const read: FetchedPage[] = [];
    const within = urls.slice(0, this.limits.pagesMax - this.asked);
    if (within.length < urls.length) this.isCut = true;
    for (let at = 0; at < within.length; at += PAGES_AT_ONCE_MAX) {
      await this.progress(this.asked / (this.asked + within.length - at));
      const together = within.slice(at, at + PAGES_AT_ONCE_MAX);
      this.asked += together.length;
      const pages = await Promise.all(together.map((url) => this.attempted(() => this.fetcher.page(url, this.either))));
      for (const [index, page] of pages.entries()) {
        const url = together[index]!;
        if (page instanceof PageNotFetched) this.fail(url, page);
        else if (this.isNew(page, url) && isWanted(page) && (await this.keep(page))) read.push(page);
      }
    }
    return read;
  }

  private async keep({ url, extension, bytes }: FetchedPage): Promise<boolean> {
    const { bytesMax } = this.limits;
    if (extension === undefined) return this.fail(url, new PageNotFetched('It is of a type that cannot be read.', false));
    if (this.bytes + bytes.byteLength > bytesMax) {
      return this.fail(url, new PageNotFetched(`The pages have more than ${bytesMax} bytes in all.`, false));
    }
    this.bytes += bytes.byteLength;
    const blob = await this.blobs.put(Readable.from([bytes]));
    this.files.push({ filename: pageFilename(url, extension, this.names), ...blob, url });
    return true;
  }

  /** A page to which several addresses lead is read once. */
  private isNew({ url }: FetchedPage, asked: string): boolean {
    const address = withoutPlace(url);
    if (address === asked) return true;
    return this.firstSeen([address]).length > 0;
  }

  private firstSeen(urls: readonly string[]): readonly string[] {
    return urls.filter((url) => !this.seen.has(url) && this.seen.add(url));
  }

  /** Without those that the site asks robots not to read; of the first page that is told. */
  private async allowed(urls: readonly string[], isFirst: boolean): Promise<readonly string[]> {
    const allowed: string[] = [];
    for (const url of urls) {
      const { origin, pathname, search } = new URL(url);
      if ((await this.rulesOf(origin))(pathname + search)) allowed.push(url);
      else if (isFirst) this.fail(url, new PageNotFetched('The site asks robots not to read it.', false));
    }
    return allowed;
  }

  /** A site that says nothing, or cannot be asked, forbids nothing. */
  private async rulesOf(origin: string): Promise<(path: string) => boolean> {
    let rules = this.robots.get(origin);
    if (!rules) {
      const text = await this.attempted(() => this.fetcher.text(`${origin}/robots.txt`, this.either));
      rules = robotsRules(text instanceof PageNotFetched ? '' : text);
      this.robots.set(origin, rules);
    }
    return rules;
  }

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

  private fail(url: string, { message: reason, isTransient: mayPass }: PageNotFetched): false {
    this.missed.push({ url, reason, mayPass });
    return false;
  }
}

const keepAll = () => true;

function withoutPlace(address: string): string {
  const url = new URL(address);
  url.hash = '';
  return url.href;
}
