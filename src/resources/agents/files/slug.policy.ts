const SLUG_CHARACTERS_MAX = 80;
const SLUG_OF_NOTHING = 'agent';

/** Converts a text to a slug for URLs and file names. */
export function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS_MAX);
  return slug.replace(/^-/, '').replace(/-$/, '') || SLUG_OF_NOTHING;
}

/** The first of `slug`, `slug-2`, `slug-3` … that is free. */
export function freeSlug(slug: string, isTaken: (slug: string) => boolean): string {
  let free = slug;
  for (let count = 2; isTaken(free); count++) free = `${slug}-${count}`;
  return free;
}
