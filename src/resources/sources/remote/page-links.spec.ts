import { describe, expect, it } from '@jest/globals';
import { linksIn, LINKS_MAX, sitemapEntries } from './page-links.js';
import { PAGE_URL_CHARACTERS_MAX } from './remote-limits.js';

describe('the links of a page', () => {
  const linked = (html: string) => linksIn(html, 'https://a.example/docs/x');

  it('are absolute web addresses without duplicates', async () => {
    const html = `<a href="y#part">Y</a> <a href="/z?a=1&amp;b=2">Z</a> <A HREF='y'>again</a> <a href="//b.example/">B</a>
      <a href="mailto:a@a.example">mail</a> <a href="javascript:x()">x</a> <a href="https://me:secret@a.example/">s</a> <a>none</a>
      <map><area href="map"></map> <link href="style.css"> <a href="http://[1">broken</a>`;
    expect(await linked(html)).toEqual([
      'https://a.example/docs/y',
      'https://a.example/z?a=1&b=2',
      'https://b.example/',
      'https://a.example/docs/map',
    ]);
  });

  it('are resolved against the base of the page', async () => {
    expect(await linked('<base href="/other/"><a href="y">Y</a>')).toEqual(['https://a.example/other/y']);
  });

  it('are limited in length and number', async () => {
    expect(await linked(`<a href="/${'x'.repeat(PAGE_URL_CHARACTERS_MAX)}">long</a>`)).toEqual([]);
    const many = Array.from({ length: LINKS_MAX + 5_000 }, (_, index) => `<a href="/${index}">x</a>`).join('');
    expect((await linked(many)).length).toBeLessThan(LINKS_MAX + 1_000);
  });

  it('are limited in number with those that are repeated or broken', async () => {
    const many = '<a href="y">Y</a><a href="http://[1">broken</a>'.repeat(LINKS_MAX);
    expect(await linked(`${many}<a href="late">late</a>`)).toEqual(['https://a.example/docs/y']);
  });

  it('are found in time on a page with very many open tags', async () => {
    const begun = performance.now();
    await linked('<a href="y">'.repeat(200_000));
    await linked('<div>'.repeat(500_000));
    expect(performance.now() - begun).toBeLessThan(30_000);
  });
});

describe('a sitemap', () => {
  it('lists pages or sitemaps', async () => {
    const xml = `<?xml version="1.0"?><urlset xmlns="x" xmlns:image="y"><url><loc> https://a.example/1 </loc><lastmod>2026</lastmod>
      <image:image><image:caption>c</image:caption></image:image></url><url><loc>https://a.example/2?a=1&amp;b=2</loc></url></urlset>`;
    expect(await sitemapEntries(xml, 'https://a.example/sitemap.xml')).toEqual({
      pages: ['https://a.example/1', 'https://a.example/2?a=1&b=2'],
      sitemaps: [],
    });
    const index = '<s:sitemapindex xmlns:s="x"><s:sitemap><s:loc>/2.xml</s:loc></s:sitemap></s:sitemapindex>';
    expect(await sitemapEntries(index, 'https://a.example/sitemap.xml')).toEqual({
      pages: [],
      sitemaps: ['https://a.example/2.xml'],
    });
  });

  it('lists no pictures', async () => {
    const picture = '<image:image><image:loc>https://a.example/1.png</image:loc></image:image>';
    const xml = `<urlset xmlns:image="y"><url>${picture}<loc>https://a.example/1</loc>${picture}</url></urlset>`;
    expect((await sitemapEntries(xml, 'https://a.example/')).pages).toEqual(['https://a.example/1']);
  });

  it('is read to a limited number of addresses, with those that are repeated', async () => {
    const many = '<url><loc>/1</loc></url>'.repeat(LINKS_MAX + 5_000);
    const xml = `<urlset>${many}<url><loc>/late</loc></url></urlset>`;
    expect((await sitemapEntries(xml, 'https://a.example/')).pages).toEqual(['https://a.example/1']);
  });

  it('lists nothing if it is something else', async () => {
    expect(await sitemapEntries('<html><a href="/x">x</a>', 'https://a.example/')).toEqual({ pages: [], sitemaps: [] });
  });
});
