import { readTags } from '../../../platform/outgoing/read-tags.policy.js';
import { PAGE_URL_CHARACTERS_MAX } from './remote-limits.js';

/** The number of addresses that are taken from one page or sitemap. */
export const LINKS_MAX = 10_000;

/** The web addresses that a page links to, without duplicates and fragments. */
export function linksIn(html: string, address: string): readonly string[] {
  const links = new Set<string>();
  let base = address;
  const onopentag = (tag: string, { href }: Record<string, string>): void => {
    if (href === undefined) return;
    const name = withoutPrefix(tag);
    if (name === 'base') base = webAddress(href, address) ?? base;
    const link = name === 'a' || name === 'area' ? webAddress(href, base) : undefined;
    if (link !== undefined) links.add(link);
  };
  readTags(html, { onopentag }, { hasEnough: () => links.size >= LINKS_MAX });
  return [...links];
}

/** The pages and the further sitemaps that a sitemap lists. */
export function sitemapEntries(
  xml: string,
  address: string,
): Readonly<{ pages: readonly string[]; sitemaps: readonly string[] }> {
  const found = { pages: new Set<string>(), sitemaps: new Set<string>() };
  let of: Set<string> | undefined;
  let text: string | undefined;
  const onopentag = (tag: string): void => {
    const name = withoutPrefix(tag);
    if (name === 'url') of = found.pages;
    else if (name === 'sitemap') of = found.sitemaps;
    else if (name === 'loc') text = '';
  };
  const ontext = (piece: string): void => {
    if (text !== undefined && text.length <= PAGE_URL_CHARACTERS_MAX) text += piece;
  };
  const onclosetag = (tag: string): void => {
    if (withoutPrefix(tag) !== 'loc') return;
    const entry = webAddress(text ?? '', address);
    if (entry !== undefined) of?.add(entry);
    text = undefined;
  };
  const hasEnough = () => found.pages.size + found.sitemaps.size >= LINKS_MAX;
  readTags(xml, { onopentag, ontext, onclosetag }, { hasEnough, xmlMode: true });
  return { pages: [...found.pages], sitemaps: [...found.sitemaps] };
}

/** The name of a tag without its namespace prefix. */
const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

function webAddress(href: string, base: string): string | undefined {
  const url = URL.parse(href.trim(), base);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  return url.href.length > PAGE_URL_CHARACTERS_MAX ? undefined : url.href;
}
