import { readTags } from '../../../platform/outgoing/read-tags.policy.js';
import { PAGE_URL_CHARACTERS_MAX } from './remote-limits.js';

/** The number of addresses that are read in one page or sitemap, with those that are repeated or cannot be used. */
export const LINKS_MAX = 10_000;

/** The tags whose addresses are read. */
const LINKING = new Set(['a', 'area', 'base']);

/** The web addresses that a page links to, without duplicates and fragments. */
export async function linksIn(html: string, address: string): Promise<readonly string[]> {
  const links = new Set<string>();
  let base = address;
  let read = 0;
  const onopentag = (tag: string, { href }: Record<string, string>): void => {
    const name = withoutPrefix(tag);
    if (href === undefined || !LINKING.has(name)) return;
    read++;
    const found = webAddress(href, name === 'base' ? address : base);
    if (found === undefined) return;
    if (name === 'base') base = found;
    else links.add(found);
  };
  await readTags(html, { onopentag }, { hasEnough: () => read >= LINKS_MAX });
  return [...links];
}

/** The pages and the further sitemaps that a sitemap lists. The addresses of a page's pictures are not its address. */
export async function sitemapEntries(
  xml: string,
  address: string,
): Promise<Readonly<{ pages: readonly string[]; sitemaps: readonly string[] }>> {
  const found = { url: new Set<string>(), sitemap: new Set<string>() };
  const open: string[] = [];
  let of: Set<string> | undefined;
  let text = '';
  let read = 0;
  const onopentag = (tag: string): void => {
    const name = withoutPrefix(tag);
    const parent = open.at(-1);
    open.push(name);
    if (name !== 'loc' || (parent !== 'url' && parent !== 'sitemap')) return;
    of = found[parent];
    text = '';
  };
  const ontext = (piece: string): void => {
    if (of && text.length <= PAGE_URL_CHARACTERS_MAX) text += piece;
  };
  const onclosetag = (tag: string): void => {
    open.pop();
    if (withoutPrefix(tag) !== 'loc') return;
    read++;
    const entry = of && webAddress(text, address);
    if (entry !== undefined) of?.add(entry);
    of = undefined;
  };
  await readTags(xml, { onopentag, ontext, onclosetag }, { hasEnough: () => read >= LINKS_MAX, xmlMode: true });
  return { pages: [...found.url], sitemaps: [...found.sitemap] };
}

/** The name of a tag without its namespace prefix. */
const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

function webAddress(href: string, base: string): string | undefined {
  const url = URL.parse(href.trim(), base);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  return url.href.length > PAGE_URL_CHARACTERS_MAX ? undefined : url.href;
}
