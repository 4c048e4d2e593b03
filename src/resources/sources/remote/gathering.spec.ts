import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { LocalServer, redirect } from '../../../../test/support/local-server.js';
import type { Timing } from '../../../kernel/timing.js';
import { GuardedHttp } from '../../../platform/outgoing/guarded-http.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { PagesOrigin } from '../source/source.events.js';
import type { GatheredPages } from './gathering.js';
import { isNothingFetched, RemotePages } from './remote-pages.js';

const LIMITS = { filesMax: 100, pagesMax: 9, pageBytesMax: 2_000, bytesMax: 9_000, depthMax: 3, pageMs: 30_000, totalMs: 60_000 };
const LARGE = { ...LIMITS, pageBytesMax: 1_000_000, bytesMax: 1_000_000 };
const KEPT = 'It answered with HTTP status 503. What was read of it before is kept.';

let site: LocalServer;
let web: GuardedHttp;
let answers: Map<string, string | ((response: ServerResponse) => void)>;
beforeAll(async () => {
  site = await LocalServer.started(({ path }, response) => {
    const answer = answers.get(path);
    if (answer === undefined) response.writeHead(404).end('none');
    else if (typeof answer === 'string') response.writeHead(200, { 'content-type': 'text/html' }).end(answer);
    else answer(response);
  });
  web = new GuardedHttp({ privateHosts: [site.host] });
});
afterAll(() => Promise.all([web.close(), site.close()]));
beforeEach(() => {
  answers = new Map();
});

const blobs = new InMemoryBlobs();
const signal = new AbortController().signal;
function gather(
  kind: PagesOrigin['kind'],
  paths: readonly string[],
  { files, sitemaps }: Pick<GatheredPages, 'files' | 'sitemaps'>,
  limits = LIMITS,
  timing: Timing = systemTiming,
) {
  const urls = paths.map((path) => `${site.url}${path}`);
  const pages = new RemotePages(web, blobs, limits, timing);
  return pages.gather({ kind, urls }, { files, sitemaps }, signal, () => Promise.resolve());
}
const NONE = { files: [], sitemaps: [] };
const first = (kind: PagesOrigin['kind'], ...paths: string[]) => gather(kind, paths, NONE);

const away = (response: ServerResponse) => void response.writeHead(503).end();
const link = (...paths: string[]) => paths.map((path) => `<a href="${path}">x</a>`).join('');
const listing = (...paths: string[]) =>
  `<urlset>${paths.map((path) => `<url><loc>${site.url}${path}</loc></url>`).join('')}</urlset>`;
const index = (...paths: string[]) =>
  `<sitemapindex>${paths.map((path) => `<sitemap><loc>${site.url}${path}</loc></sitemap>`).join('')}</sitemapindex>`;
const names = ({ files }: GatheredPages) => files.map(({ filename }) => filename.slice(site.host.length));
const told = ({ missed }: GatheredPages) => missed.map(({ url, reason }) => [url.slice(site.url.length), reason]);

describe('a temporarily unavailable page', () => {
  it('is kept as it was, at the same position', async () => {
    answers.set('/a', 'A').set('/b', 'B').set('/c', 'C');
    const before = await first('url', '/a', '/b', '/c');
    answers.set('/b', away).set('/c', 'another C');
    const now = await gather('url', ['/a', '/b', '/c'], before);
    expect([names(now), told(now)]).toEqual([['/a.html', '/b.html', '/c.html'], [['/b', KEPT]]]);
    expect([now.files[1], now.files[2]!.size]).toEqual([before.files[1], 9]);
  });

  it('is kept while it is unavailable, also if a redirect led to it', async () => {
    answers
      .set('/a', 'A')
      .set('/old', (response) => redirect(response, '/new'))
      .set('/new', 'N');
    let pagesNow = await first('url', '/a', '/old');
    answers.set('/old', away);
    for (let sync = 0; sync < 2; sync++) pagesNow = await gather('url', ['/a', '/old'], pagesNow);
    expect([names(pagesNow), told(pagesNow)]).toEqual([['/a.html', '/new.html'], [['/old', KEPT]]]);
  });

  it('is dropped if it no longer exists or was never read', async () => {
    answers.set('/a', 'A').set('/b', 'B').set('/c', away);
    const before = await first('url', '/a', '/b', '/c');
    answers.delete('/b');
    const now = await gather('url', ['/a', '/b', '/c'], before);
    expect([names(now), told(now)]).toEqual([
      ['/a.html'],
      [
        ['/b', 'It answered with HTTP status 404.'],
        ['/c', 'It answered with HTTP status 503.'],
      ],
    ]);
  });

  it('counts as nothing fetched if all others are unavailable too', async () => {
    answers
      .set('/a', 'A')
      .set('/old', (response) => redirect(response, '/new'))
      .set('/new', 'N');
    const before = await first('url', '/a', '/old');
    expect(isNothingFetched(before)).toBe(false);
    answers.set('/a', away).set('/new', away);
    expect(isNothingFetched(await gather('url', ['/a', '/old'], before))).toBe(true);
    answers.set('/a', 'A');
    expect(isNothingFetched(await gather('url', ['/a', '/old'], before))).toBe(false);
  });
});

describe('a page linked from a temporarily unavailable page', () => {
  beforeEach(() => {
    answers.set('/', link('/guide', '/other')).set('/guide', link('/1', '/2')).set('/other', 'O').set('/1', link('/3'));
    answers.set('/2', '2').set('/3', '3');
  });
  const all = ['.html', '/guide.html', '/other.html', '/1.html', '/2.html', '/3.html'];

  it('is read in its current version', async () => {
    const before = await first('crawler', '/');
    expect(names(before)).toEqual(all);
    answers.set('/guide', away).set('/2', 'another 2');
    const now = await gather('crawler', ['/'], before);
    expect([names(now), told(now), now.files[4]!.size]).toEqual([all, [['/guide', KEPT]], 9]);
  });

  it('is read if the first page is unavailable, also if a redirect led to that', async () => {
    answers.set('/start', (response) => redirect(response, '/'));
    const before = await first('crawler', '/start');
    expect(names(before)).toEqual(all);
    answers.set('/start', away);
    const now = await gather('crawler', ['/start'], before);
    expect([names(now), told(now)]).toEqual([all, [['/start', KEPT]]]);
  });

  it('is kept with the pages that it links to if it is unavailable itself', async () => {
    const before = await first('crawler', '/');
    answers.set('/guide', away).set('/1', away);
    const now = await gather('crawler', ['/'], before);
    expect([names(now), told(now).map(([path]) => path)]).toEqual([all, ['/guide', '/1']]);
  });

  it('is dropped if it no longer exists or no page links to it any more', async () => {
    const before = await first('crawler', '/');
    answers.set('/', link('/guide')).set('/guide', away).delete('/1');
    const now = await gather('crawler', ['/'], before);
    expect([names(now), told(now)]).toEqual([
      ['.html', '/guide.html', '/2.html'],
      [
        ['/guide', KEPT],
        ['/1', 'It answered with HTTP status 404.'],
      ],
    ]);
  });

  it('is dropped if the linking page no longer exists', async () => {
    const before = await first('crawler', '/');
    answers.set('/guide', (response) => response.writeHead(410).end());
    expect(names(await gather('crawler', ['/'], before))).toEqual(['.html', '/other.html']);
  });
});

describe('a temporarily unavailable sitemap', () => {
  beforeEach(() => {
    for (const path of ['/a', '/b', '/c', '/d']) answers.set(path, path);
    answers.set('/index.xml', index('/1.xml', '/2.xml')).set('/1.xml', listing('/a', '/b')).set('/2.xml', listing('/c', '/d'));
  });

  it('lists the same pages as before', async () => {
    let pagesNow = await first('sitemap', '/index.xml');
    answers.set('/1.xml', away);
    for (let sync = 0; sync < 2; sync++) pagesNow = await gather('sitemap', ['/index.xml'], pagesNow);
    expect([names(pagesNow), told(pagesNow)]).toEqual([['/a.html', '/b.html', '/c.html', '/d.html'], [['/1.xml', KEPT]]]);
  });

  it('lists the same sitemaps as before, and pages that these no longer list are dropped', async () => {
    const before = await first('sitemap', '/index.xml');
    answers.set('/index.xml', away).set('/1.xml', listing('/b')).set('/2.xml', away).delete('/d');
    const now = await gather('sitemap', ['/index.xml'], before);
    expect([names(now), told(now)]).toEqual([
      ['/b.html', '/c.html'],
      [
        ['/index.xml', KEPT],
        ['/2.xml', KEPT],
        ['/d', 'It answered with HTTP status 404.'],
      ],
    ]);
  });

  it('loses its pages if it no longer exists', async () => {
    const before = await first('sitemap', '/index.xml');
    answers.delete('/1.xml');
    expect(names(await gather('sitemap', ['/index.xml'], before))).toEqual(['/c.html', '/d.html']);
  });
});

it('very many sitemaps in indexes are left out in time', async () => {
  const indexes = Array.from({ length: 8 }, (_, number) => `/index-${number}.xml`);
  const many = (number: string) => index(...Array.from({ length: 10_000 }, (_, place) => `/${number}-${place}.xml`));
  answers.set('/index.xml', index(...indexes));
  for (const path of indexes) answers.set(path, many(path.slice(1)));
  const { sitemaps, isCut } = await gather('sitemap', ['/index.xml'], NONE, LARGE);
  expect([sitemaps.length, isCut]).toEqual([9, true]);
});

describe('many links that are checked against many rules of robots.txt', () => {
  const LINKS = 20;
  beforeEach(() => {
    const rules = Array.from({ length: 900 }, (_, number) => `Disallow: /${'*a'.repeat(200)}${number}`);
    const links = Array.from({ length: LINKS }, (_, number) => `/${'a'.repeat(300)}-${number}`);
    answers.set('/', link(...links)).set('/robots.txt', ['User-agent: *', 'Disallow: /a', ...rules].join('\n'));
  });

  /** A time in which each check takes a second. Between two checks, other work gets its turn. */
  const slow = (turn: () => Promise<void>): Timing => {
    let elapsedMs = 0;
    const changed = { elapsedMs: () => (elapsedMs += 1_000), pause: turn };
    return Object.assign(Object.create(systemTiming) as Timing, changed);
  };

  it('do not hold up other work', async () => {
    let turns = 0;
    const { files } = await gather(
      'crawler',
      ['/'],
      NONE,
      LARGE,
      slow(async () => void turns++),
    );
    expect([files.length, turns]).toEqual([1, LINKS + 1]);
  });

  it('are left out when the time for all pages is over', async () => {
    const totalMs = 1_500;
    let turns = 0;
    // The first turn is the one of the first page.
    const late = slow(() => (turns++ === 0 ? Promise.resolve() : systemTiming.pause(totalMs)));
    const { files, isCut } = await gather('crawler', ['/'], NONE, { ...LARGE, totalMs }, late);
    expect([files.length, isCut]).toEqual([1, true]);
  });
});
