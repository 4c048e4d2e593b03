import { Readable } from 'node:stream';
import { buffer, text as textIn } from 'node:stream/consumers';
import type { Blobs } from '../../../kernel/blobs.js';
import type { Timing } from '../../../kernel/timing.js';
import { extensionOf } from '../../documents/document.port.js';
import type { PageFailure, PagesOrigin, Sitemap, SourceFile } from '../source/source.events.js';
import type { FetchedPage, PageFetcher } from './page-fetcher.js';
import { pageFilename } from './page-kind.policy.js';
import { linksIn, sitemapEntries } from './page-links.js';
import type { RemoteLimits } from './remote-limits.js';
import { PageNotFetched } from './remote-requests.js';
import { SitesRules } from './sites-rules.js';

/** The number of sitemaps that are read for a source, including those that sitemaps list. */
export const SITEMAPS_MAX = 20;
/** The number of addresses that are considered, far more than pages are read. Later links are ignored. */
export const ADDRESSES_MAX = 20_000;
const PAGES_AT_ONCE_MAX = 4;
/** How long addresses are checked before other work gets a turn. */
const TURN_MS = 20;

/** A page or a sitemap that was not fetched. `mayPass`: a later attempt may succeed. */
export type MissedPage = PageFailure & Readonly<{ mayPass: boolean }>;

/** The pages and sitemaps of the last ingestion, which replace those that are temporarily unavailable. */
export type EarlierPages = Readonly<{ files: readonly SourceFile[]; sitemaps: readonly Sitemap[] }>;

/** The result of fetching the pages. `isCut`: there are more pages than were read. */
export type GatheredPages = EarlierPages & Readonly<{ missed: readonly MissedPage[]; isCut: boolean }>;

/** Reports the progress, from 0 to 1. */
export type GatheringProgress = (share: number) => Promise<void>;

/**
 * Gathers the pages of a source for one ingestion. A page or sitemap that is temporarily unavailable is kept as it was before,
 * and its links are followed. A page that no longer exists, or to which nothing links any more, is dropped.
 */
export class Gathering {
  private readonly files: SourceFile[] = [];
  private readonly sitemaps: Sitemap[] = [];
  private readonly missed: MissedPage[] = [];
  private readonly names = new Set<string>();
  private readonly seen = new Set<string>();
  private readonly sites: SitesRules;
  private readonly earlierFiles: ReadonlyMap<string, SourceFile>;
  private readonly earlierSitemaps: ReadonlyMap<string, Sitemap>;
  private asked = 0;
  private bytes = 0;
  private isCut = false;

  constructor(
    private readonly parts: Readonly<{
      fetcher: PageFetcher;
      blobs: Blobs;
      limits: RemoteLimits;
      timing: Timing;
      progress: GatheringProgress;
    }>,
    earlier: EarlierPages,
  ) {
    this.sites = new SitesRules(parts.fetcher);
    const at = (address: (file: SourceFile) => string | undefined) =>
      earlier.files.map((file) => [address(file) ?? '', file] as const);
    this.earlierFiles = new Map([...at(({ url }) => url), ...at(({ url, requestedUrl = url }) => requestedUrl)]);
    this.earlierSitemaps = new Map(earlier.sitemaps.map((sitemap) => [sitemap.url, sitemap]));
  }

  async of({ kind, urls }: PagesOrigin): Promise<GatheredPages> {
    if (kind === 'crawler') await this.crawl(urls[0]!);
    else {
      const listed = kind === 'sitemap' ? await this.listed(urls) : urls;
      for await (const page of this.pagesAt(this.firstSeen(listed))) await this.keep(page);
    }
    const { files, sitemaps, missed, isCut } = this;
    return { files, sitemaps, missed, isCut };
  }

  /** Crawls breadth first, on the host of the first page after redirects. */
  private async crawl(start: string): Promise<void> {
    let host: string | undefined;
    let level = this.firstSeen([start]);
    for (let depth = 0; level.length > 0; depth++) {
      const found = new Set<string>();
      for await (const page of this.pagesAt(await this.allowed(level, depth === 0))) {
        host ??= new URL(page.url).host;
        const isWanted = new URL(page.url).host === host && (depth === 0 || page.extension !== undefined);
        if (!isWanted || !(await this.mayLeadTo(page, depth === 0)) || !(await this.keep(page)) || page.extension !== 'html')
          continue;
        const links = await linksIn(new TextDecoder().decode(page.bytes), page.url);
        this.collect(
          found,
          links.filter((link) => new URL(link).host === host),
        );
      }
      level = this.firstSeen([...found]);
      if (depth === this.parts.limits.depthMax && level.length > 0) {
        this.isCut = true;
        return;
      }
    }
  }

  /** The pages in these sitemaps and in the sitemaps that they list. */
  private async listed(urls: readonly string[]): Promise<readonly string[]> {
    const pages = new Set<string>();
    const sitemaps = [...urls];
    for (let next = 0; next < sitemaps.length; next++) {
      if (next === SITEMAPS_MAX) {
        this.isCut = true;
        break;
      }
      const url = sitemaps[next]!;
      const text = await this.sitemapAt(url);
      if (text === undefined) continue;
      const entries = await sitemapEntries(text, url);
      this.collect(pages, entries.pages);
      // One more than is read shows that there are too many.
      for (const sitemap of entries.sitemaps)
        if (sitemaps.length <= SITEMAPS_MAX && !sitemaps.includes(sitemap)) sitemaps.push(sitemap);
      if (entries.pages.length + entries.sitemaps.length === 0) this.miss(url, new PageNotFetched('It lists no pages.', false));
    }
    if (pages.size + this.missed.length === 0) this.miss(urls[0]!, new PageNotFetched('It lists no pages.', false));
    return [...pages];
  }

  private collect(addresses: Set<string>, more: readonly string[]): void {
    for (const address of more) {
      if (this.seen.has(address)) continue;
      if (this.seen.size + addresses.size >= ADDRESSES_MAX) {
        this.isCut = true;
        return;
      }
      addresses.add(address);
    }
  }

  private async sitemapAt(url: string): Promise<string | undefined> {
    const text = await this.parts.fetcher.text(url);
    if (!(text instanceof PageNotFetched)) {
      const blob = await this.parts.blobs.put(Readable.from([Buffer.from(text)]));
      this.sitemaps.push({ url, ...blob });
      return text;
    }
    const earlier = this.miss(url, text, this.earlierSitemaps.get(url));
    if (!earlier) return undefined;
    this.sitemaps.push(earlier);
    return textIn(await this.parts.blobs.get(earlier.sha256));
  }

  /** Fetches pages up to the limit, a few concurrently, and yields each once, in the order of their addresses. */
  private async *pagesAt(urls: readonly string[]): AsyncIterable<FetchedPage> {
    const { fetcher, limits, progress } = this.parts;
    const within = urls.slice(0, limits.pagesMax - this.asked);
    if (within.length < urls.length) this.isCut = true;
    for (let at = 0; at < within.length; at += PAGES_AT_ONCE_MAX) {
      await progress(this.asked / (this.asked + within.length - at));
      const together = within.slice(at, at + PAGES_AT_ONCE_MAX);
      this.asked += together.length;
      const pages = await Promise.all(together.map((url) => fetcher.page(url)));
      for (const [index, fetched] of pages.entries()) {
        const page = fetched instanceof PageNotFetched ? await this.earlierPage(together[index]!, fetched) : fetched;
        if (page && this.isNew(page)) yield page;
      }
    }
  }

  private async earlierPage(requestedUrl: string, failure: PageNotFetched): Promise<FetchedPage | undefined> {
    const earlier = this.miss(requestedUrl, failure, this.earlierFiles.get(requestedUrl));
    if (!earlier) return undefined;
    const { url = requestedUrl, filename, sha256 } = earlier;
    return { requestedUrl, url, extension: extensionOf(filename), bytes: await buffer(await this.parts.blobs.get(sha256)) };
  }

  private async keep({ requestedUrl, url, extension, bytes }: FetchedPage): Promise<boolean> {
    const { bytesMax } = this.parts.limits;
    if (extension === undefined) {
      this.miss(url, new PageNotFetched('It is of a type that cannot be read.', false));
      return false;
    }
    if (this.bytes + bytes.byteLength > bytesMax) {
      this.miss(url, new PageNotFetched(`The pages have more than ${bytesMax} bytes in all.`, false));
      return false;
    }
    this.bytes += bytes.byteLength;
    const blob = await this.parts.blobs.put(Readable.from([bytes]));
    const filename = pageFilename(url, extension, this.names);
    this.files.push({ filename, ...blob, url, ...(requestedUrl !== url && { requestedUrl }) });
    return true;
  }

  /** Whether a page was not yet reached by another address. */
  private isNew({ url, requestedUrl }: FetchedPage): boolean {
    return url === requestedUrl || this.firstSeen([url]).length > 0;
  }

  private firstSeen(urls: readonly string[]): readonly string[] {
    return urls.filter((url) => !this.seen.has(url) && this.seen.add(url));
  }

  /**
   * The addresses that robots.txt allows, at most one more than may be read, which shows that there are too many. A hostile site
   * can make the check take long, so it ends with the time for all pages.
   */
  private async allowed(urls: readonly string[], isFirst: boolean): Promise<readonly string[]> {
    const { fetcher, limits, timing } = this.parts;
    const allowed: string[] = [];
    let turnBegan = timing.elapsedMs();
    for (const url of urls) {
      if (allowed.length > limits.pagesMax - this.asked) break;
      if (timing.elapsedMs() - turnBegan > TURN_MS) {
        await timing.pause(0);
        turnBegan = timing.elapsedMs();
      }
      if (fetcher.isLate) {
        this.isCut = true;
        break;
      }
      if (await this.sites.allow(url)) allowed.push(url);
      else this.refused(url, isFirst);
    }
    return allowed;
  }

  /** Whether robots.txt allows the page to which an address led. */
  private async mayLeadTo({ requestedUrl, url }: FetchedPage, isFirst: boolean): Promise<boolean> {
    if (url === requestedUrl || (await this.sites.allow(url))) return true;
    this.refused(requestedUrl, isFirst);
    return false;
  }

  /** Only a refusal of the first page is reported. Links that are not allowed are skipped. */
  private refused(url: string, isFirst: boolean): void {
    if (isFirst) this.miss(url, new PageNotFetched('The site asks robots not to read it.', false));
  }

  /** Records the failure, and returns the earlier version if the failure is temporary. */
  private miss<T>(url: string, { message: reason, isTransient: mayPass }: PageNotFetched, earlier?: T): T | undefined {
    const kept = mayPass ? earlier : undefined;
    this.missed.push({ url, reason: kept ? `${reason} What was read of it before is kept.` : reason, mayPass });
    return kept;
  }
}
