import type { Place } from './document.port.js';

/** Sections whose joined title would be longer are not joined. */
const JOINED_TITLE_CHARACTERS_MAX = 200;

const BETWEEN_TITLES = ' · ';

/** Whether one title can name all these places. */
export const haveTitle = (places: readonly Place[]): boolean => titleOfPlaces(places).length <= JOINED_TITLE_CHARACTERS_MAX;

/** Names each place once, in order, with successive pages as a range: "Report, pages 1–3", "Install · Upgrade". */
export function titleOfPlaces(places: readonly Place[]): string {
  const pagesByTitle = new Map<string, number[]>();
  for (const { title, page } of places) {
    const pages = pagesByTitle.get(title) ?? [];
    if (page !== undefined && pages.at(-1) !== page) pages.push(page);
    pagesByTitle.set(title, pages);
  }
  return [...pagesByTitle].map(([title, pages]) => titleOf(title, pages)).join(BETWEEN_TITLES);
}

function titleOf(title: string, pages: readonly number[]): string {
  if (pages.length === 0) return title;
  return `${title}, ${pages.length === 1 ? 'page' : 'pages'} ${rangesOf(pages).join(', ')}`;
}

function rangesOf(pages: readonly number[]): readonly string[] {
  const ranges: { first: number; last: number }[] = [];
  for (const page of pages) {
    const range = ranges.at(-1);
    if (range && page === range.last + 1) range.last = page;
    else ranges.push({ first: page, last: page });
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}–${last}`));
}
