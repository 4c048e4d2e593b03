import { Parser } from 'htmlparser2';
import { PAGE_URL_CHARACTERS_MAX } from './remote-limits.js';

/** Of one page, or one sitemap, no more addresses than this are taken. */
export const LINKS_MAX = 10_000;

const PIECE_CHARACTERS = 8 * 1024;
/** Deeper than any page that people write; the parser takes longer for each tag the more of them are open. */
const OPEN_TAGS_MAX = 1_000;

/** Where a page leads to on the web, each address once and without the place within the page. */
export function linksIn(html: string, address: string): readonly string[] {
  const links = new Set<string>();
  let base = address;
  readTags(html, false, () => links.size >= LINKS_MAX, {
    open: (name, { href }) => {
      if (href === undefined) return;
      if (name === 'base') base = webAddress(href, address) ?? base;
      const link = name === 'a' || name === 'area' ? webAddress(href, base) : undefined;
      if (link !== undefined) links.add(link);
    },
  });
  return [...links];
}

/** What a sitemap lists: pages, and further sitemaps. */
export function sitemapEntries(
  xml: string,
  address: string,
): Readonly<{ pages: readonly string[]; sitemaps: readonly string[] }> {
  const found = { pages: new Set<string>(), sitemaps: new Set<string>() };
  let of: Set<string> | undefined;
  let text: string | undefined;
  readTags(xml, true, () => found.pages.size + found.sitemaps.size >= LINKS_MAX, {
    open: (name) => {
      if (name === 'url') of = found.pages;
      else if (name === 'sitemap') of = found.sitemaps;
      else if (name === 'loc') text = '';
    },
    text: (piece) => {
      if (text !== undefined && text.length <= PAGE_URL_CHARACTERS_MAX) text += piece;
    },
    close: (name) => {
      if (name !== 'loc') return;
      const entry = webAddress(text ?? '', address);
      if (entry !== undefined) of?.add(entry);
      text = undefined;
    },
  });
  return { pages: [...found.pages], sitemaps: [...found.sitemaps] };
}

type Handlers = Readonly<{
  open: (name: string, attributes: Readonly<Record<string, string>>) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
}>;

/** Tag by tag, without their prefixes, until somebody has had enough. */
function readTags(text: string, xmlMode: boolean, hasEnough: () => boolean, handlers: Handlers): void {
  let open = 0;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        open++;
        handlers.open(withoutPrefix(name), attributes);
      },
      ontext: (piece) => handlers.text?.(piece),
      onclosetag: (name) => {
        open--;
        handlers.close?.(withoutPrefix(name));
      },
    },
    { xmlMode, decodeEntities: true },
  );
  for (let at = 0; at < text.length && open <= OPEN_TAGS_MAX && !hasEnough(); at += PIECE_CHARACTERS) {
    parser.write(text.slice(at, at + PIECE_CHARACTERS));
  }
  parser.end();
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

function webAddress(href: string, base: string): string | undefined {
  const url = URL.parse(href.trim(), base);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  return url.href.length > PAGE_URL_CHARACTERS_MAX ? undefined : url.href;
}
