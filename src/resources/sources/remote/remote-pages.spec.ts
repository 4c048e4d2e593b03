import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { LocalServer, redirect } from '../../../../test/support/local-server.js';
import { GuardedHttp } from '../../../platform/outgoing/guarded-http.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { PagesOrigin } from '../source/source.events.js';
import { PAGE_URL_CHARACTERS_MAX, type RemoteLimits } from './remote-limits.js';
import { ADDRESSES_MAX, type EarlierPages, SITEMAPS_MAX } from './gathering.js';
import { RemotePages } from './remote-pages.js';

type Answer = string | ((response: ServerResponse) => void);

const LIMITS: RemoteLimits = {
  filesMax: 100,
  pagesMax: 6,
  pageBytesMax: 2_000,
  bytesMax: 6_000,
  depthMax: 2,
  pageMs: 2_000,
  totalMs: 10_000,
};

let site: LocalServer;
let other: LocalServer;
let web: GuardedHttp;
let pages: Map<string, Answer>;
beforeAll(async () => {
  site = await LocalServer.started(({ path }, response) => {
    const answer = pages.get(path) ?? pages.get(path.split('?', 1)[0]!);
    if (answer === undefined) response.writeHead(404).end('none');
    else if (typeof answer === 'string') response.writeHead(200, { 'content-type': 'text/html' }).end(answer);
    else answer(response);
  });
  other = await LocalServer.started((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('elsewhere'));
  web = new GuardedHttp({ privateHosts: [site.host, other.host] });
});
afterAll(async () => {
  await Promise.all([web.close(), site.close(), other.close()]);
});
beforeEach(() => {
  pages = new Map();
  site.requests.length = 0;
});

const signal = new AbortController().signal;
const nothing: EarlierPages = { files: [], sitemaps: [] };
const blobs = new InMemoryBlobs();
async function gather(
  kind: PagesOrigin['kind'],
  paths: readonly string[],
  limits: Partial<RemoteLimits> = {},
  earlier = nothing,
) {
  const shares: number[] = [];
  const urls = paths.map((path) => new URL(path, site.url).href);
  const pages = new RemotePages(web, blobs, { ...LIMITS, ...limits }, systemTiming);
  const gathered = await pages.gather({ kind, urls }, earlier, signal, async (share) => {
    shares.push(share);
  });
  return { ...gathered, shares, names: gathered.files.map(({ filename }) => filename.slice(site.host.length)) };
}
const typed = (type: string, body: string | Uint8Array) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': type }).end(body);
const link = (...paths: string[]) => paths.map((path) => `<a href="${path}">x</a>`).join('');
const reasons = (gathered: { missed: readonly { url: string; reason: string }[] }) =>
  gathered.missed.map(({ url, reason }) => [url.slice(site.url.length), reason]);

describe('pages by their addresses', () => {
  it('are stored in order and named by their address after redirects', async () => {
    pages.set('/a', '<h1>A</h1>').set('/b.txt', typed('text/plain; charset=iso-8859-1', Buffer.from('caf\xe9', 'latin1')));
    pages.set('/c', (response) => redirect(response, '/d')).set('/d', '<p>D');
    const { files, names, missed, isCut, shares } = await gather('url', ['/c', '/b.txt', '/a']);
    expect([names, missed, isCut]).toEqual([['/d.html', '/b.txt', '/a.html'], [], false]);
    expect(files[0]).toMatchObject({ requestedUrl: `${site.url}/c`, url: `${site.url}/d`, size: 4 });
    const text: Buffer[] = [];
    for await (const piece of await blobs.get(files[1]!.sha256)) text.push(Buffer.from(piece as Uint8Array));
    expect(Buffer.concat(text).toString('utf8')).toBe('café');
    expect(shares).toEqual([0]);
  });

  it('that cannot be fetched are reported with reasons, and the others are stored', async () => {
    pages.set('/a', '<h1>A</h1>').set('/large', 'x'.repeat(3_000)).set('/picture', typed('image/png', 'x'));
    pages.set('/private', (response) => redirect(response, 'http://169.254.169.254/latest'));
    const gathered = await gather('url', ['/gone', '/large', '/picture', '/private', '/a']);
    expect(reasons(gathered)).toEqual([
      ['/gone', 'It answered with HTTP status 404.'],
      ['/large', 'It is larger than 2000 bytes.'],
      ['/picture', 'It is of a type that cannot be read.'],
      ['/private', '169.254.169.254 may not be reached from here: it is not a public address.'],
    ]);
    expect([gathered.names, gathered.missed.map(({ mayPass }) => mayPass)]).toEqual([['/a.html'], [false, false, false, false]]);
  });

  it('of a server that is unavailable or busy may be fetched later', async () => {
    pages.set('/busy', (response) => response.writeHead(503).end());
    pages.set('/broken', (response) => response.destroy());
    const gathered = await gather('url', ['/busy', '/broken']);
    expect(gathered.missed.map(({ mayPass }) => mayPass)).toEqual([true, true]);
  });

  it('that exceed the time limit of a page or of all pages are reported', async () => {
    pages.set('/slow', () => undefined).set('/a', '<h1>A</h1>');
    const each = await gather('url', ['/slow', '/a'], { pageMs: 3_000 });
    expect([reasons(each), each.names]).toEqual([[['/slow', '127.0.0.1 did not answer within 3 seconds.']], ['/a.html']]);
    const all = await gather('url', ['/slow', '/a', '/a?1', '/a?2', '/a?3'], { totalMs: 6_000, pageMs: 60_000 });
    expect(reasons(all)).toEqual([
      ['/slow', 'There was no time left to fetch it.'],
      ['/a?3', 'There was no time left to fetch it.'],
    ]);
  });

  it('are limited in their total bytes', async () => {
    for (const path of ['/a', '/b', '/c', '/d']) pages.set(path, path.repeat(900));
    const gathered = await gather('url', ['/a', '/b', '/c', '/d']);
    expect([gathered.names, reasons(gathered)]).toEqual([
      ['/a.html', '/b.html', '/c.html'],
      [['/d', 'The pages have more than 6000 bytes in all.']],
    ]);
  });

  it('are read once if several addresses redirect to one', async () => {
    pages.set('/a', '<h1>A</h1>').set('/b', (response) => redirect(response, '/a'));
    expect((await gather('url', ['/a', '/b'])).names).toEqual(['/a.html']);
  });

  it('that redirect to a too long address are reported', async () => {
    pages.set('/a', (response) => redirect(response, `/d?${'x'.repeat(PAGE_URL_CHARACTERS_MAX)}`)).set('/d', '<p>D');
    expect(reasons(await gather('url', ['/a']))).toEqual([['/a', 'It leads to an address of more than 2048 characters.']]);
  });

  it('are abandoned when the attempt is aborted', async () => {
    pages.set('/slow', () => undefined);
    const over = new AbortController();
    const gathering = new RemotePages(web, new InMemoryBlobs(), LIMITS, systemTiming).gather(
      { kind: 'url', urls: [`${site.url}/slow`] },
      nothing,
      over.signal,
      async () => undefined,
    );
    setTimeout(() => over.abort(new Error('over')), 50);
    await expect(gathering).rejects.toThrow('over');
  });
});

describe('a sitemap', () => {
  const listing = (...paths: string[]) =>
    typed('application/xml', `<urlset>${paths.map((path) => `<url><loc>${site.url}${path}</loc></url>`).join('')}</urlset>`);
  const index = (...paths: string[]) =>
    typed(
      'text/xml',
      `<sitemapindex>${paths.map((path) => `<sitemap><loc>${site.url}${path}</loc></sitemap>`).join('')}</sitemapindex>`,
    );

  it('lists pages, also by nested and by gzipped sitemaps', async () => {
    for (const path of ['/a', '/b', '/c']) pages.set(path, path);
    pages.set('/sitemap.xml', index('/1.xml', '/2.xml.gz', '/sitemap.xml')).set('/1.xml', listing('/a', '/b'));
    const packed = gzipSync(`<urlset><url><loc>${site.url}/c</loc></url></urlset>`);
    pages.set('/2.xml.gz', typed('application/gzip', packed));
    const gathered = await gather('sitemap', ['/sitemap.xml']);
    expect([gathered.names, gathered.missed, gathered.isCut]).toEqual([['/a.html', '/b.html', '/c.html'], [], false]);
  });

  it('is cut at the maximum number of pages', async () => {
    const paths = Array.from({ length: 8 }, (_, place) => `/${place}`);
    for (const path of paths) pages.set(path, path);
    pages.set('/sitemap.xml', listing(...paths));
    const gathered = await gather('sitemap', ['/sitemap.xml']);
    expect([gathered.files.length, gathered.isCut]).toEqual([6, true]);
  });

  it('that has no pages, does not exist or is too large unpacked is reported', async () => {
    pages.set('/empty.xml', '<html>').set('/bomb.xml', typed('application/xml', gzipSync('x'.repeat(1_000_000))));
    const gathered = await gather('sitemap', ['/empty.xml', '/gone.xml', '/bomb.xml']);
    expect(reasons(gathered)).toEqual([
      ['/empty.xml', 'It lists no pages.'],
      ['/gone.xml', 'It answered with HTTP status 404.'],
      ['/bomb.xml', 'It cannot be unpacked to 2000 bytes or less.'],
    ]);
  });

  it('leads to a limited number of sitemaps', async () => {
    for (let place = 0; place <= SITEMAPS_MAX; place++) pages.set(`/${place}.xml`, index(`/${place + 1}.xml`));
    const gathered = await gather('sitemap', ['/0.xml']);
    expect([site.requests.length, gathered.isCut]).toEqual([SITEMAPS_MAX, true]);
    expect(gathered.missed).toMatchObject([{ reason: 'It lists no pages.', mayPass: false }]);
  });
});

describe('a crawl', () => {
  it('reads breadth first, on the host of its first page', async () => {
    pages
      .set('/', link('/a', '/b', other.url, '/picture'))
      .set('/a', link('/', '/c', '/a#x'))
      .set('/b', link('/a'))
      .set('/c', 'C');
    pages.set('/picture', typed('image/png', 'x'));
    const gathered = await gather('crawler', ['/']);
    expect([gathered.names, gathered.missed, gathered.isCut]).toEqual([['.html', '/a.html', '/b.html', '/c.html'], [], false]);
    expect(other.requests).toEqual([]);
  });

  it('follows links to a limited depth, reads a limited number of pages, and reports that there are more', async () => {
    for (let place = 0; place < 5; place++) pages.set(`/${place}`, link(`/${place + 1}`));
    const deep = await gather('crawler', ['/0']);
    expect([deep.names, deep.isCut]).toEqual([['/0.html', '/1.html', '/2.html'], true]);
    pages.set('/', link(...Array.from({ length: 9 }, (_, place) => `/0?${place}`)));
    const wide = await gather('crawler', ['/']);
    expect([wide.files.length, wide.isCut]).toEqual([6, true]);
  });

  it('does not read pages that robots.txt forbids', async () => {
    pages.set('/robots.txt', typed('text/plain', 'User-agent: *\nDisallow: /private'));
    pages.set('/', link('/a', '/private/b')).set('/a', 'A').set('/private/b', 'B');
    expect((await gather('crawler', ['/'])).names).toEqual(['.html', '/a.html']);
    expect(reasons(await gather('crawler', ['/private/b']))).toEqual([['/private/b', 'The site asks robots not to read it.']]);
    expect(site.requests.filter(({ path }) => path === '/robots.txt')).toHaveLength(2);
  });

  it('does not keep pages that robots.txt forbids if other addresses lead to them', async () => {
    pages.set('/robots.txt', typed('text/plain', 'User-agent: *\nDisallow: /private'));
    pages.set('/', link('/a', '/moved')).set('/a', 'A').set('/private/b', link('/c')).set('/c', 'C');
    pages.set('/moved', (response) => response.writeHead(302, { location: '/private/b' }).end());
    const gathered = await gather('crawler', ['/']);
    expect([gathered.names, gathered.missed]).toEqual([['.html', '/a.html'], []]);
    expect(reasons(await gather('crawler', ['/moved']))).toEqual([['/moved', 'The site asks robots not to read it.']]);
  });

  it('reports broken links', async () => {
    pages.set('/', link('/gone'));
    expect(reasons(await gather('crawler', ['/']))).toEqual([['/gone', 'It answered with HTTP status 404.']]);
  });
});

it('a site with too many addresses is read only up to the limit of addresses', async () => {
  const many = (name: string) => link(...Array.from({ length: ADDRESSES_MAX / 2 }, (_, place) => `/hidden/${name}${place}`));
  pages.set('/robots.txt', typed('text/plain', 'User-agent: *\nDisallow: /hidden'));
  pages
    .set('/', link('/a', '/b', '/c'))
    .set('/a', many('a'))
    .set('/b', many('b'))
    .set('/c', link('/d'))
    .set('/d', 'D');
  const wide = { pageBytesMax: 1_000_000, bytesMax: 10_000_000 };
  const gathered = await gather('crawler', ['/'], wide);
  expect([gathered.names, gathered.isCut]).toEqual([['.html', '/a.html', '/b.html', '/c.html'], true]);
});
