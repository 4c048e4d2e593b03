/** What has been heard of somebody who is still speaking. */
export type LiveTranscript = Readonly<{
  language: string | null;
  /** Heard twice in the same way: it changes no more. */
  committed: string;
  /** Heard once: the next chunk may tell it otherwise. */
  mutable: string;
  /** The chunk that was heard last; -1 before the first. */
  lastChunk: number;
}>;

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');
const bare = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
const isSame = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && (one === other || (bare(one) !== '' && bare(one) === bare(other)));
const joined = (...words: readonly string[]): string => words.join(' ');

/** How many of the last words of a text are the first of what follows, or is, it. */
function overlapOf(before: readonly string[], after: readonly string[]): number {
  for (let size = Math.min(before.length, after.length); size > 0; size--) {
    if (after.slice(0, size).every((word, place) => isSame(before[before.length - size + place], word))) return size;
  }
  return 0;
}

/**
 * The transcript after one chunk more: what was heard twice in the same way is committed. A chunk may hold all that was said so far, or
 * only the end of it.
 */
export function withHeard(before: LiveTranscript, text: string, chunk: number, language: string | null): LiveTranscript {
  const next = { ...before, lastChunk: chunk, language: before.language ?? language };
  const heard = wordsOf(text);
  if (heard.length === 0) return next;
  const [committed, mutable] = [wordsOf(before.committed), wordsOf(before.mutable)];
  const news = heard.slice(overlapOf(committed, heard));
  let agreed = 0;
  while (isSame(mutable[agreed], news[agreed])) agreed++;
  // What went by while nobody listened is not told again.
  const gone = agreed === 0 ? overlapOf(mutable, news) : 0;
  const settled = gone > 0 ? mutable : news.slice(0, agreed);
  return {
    ...next,
    committed: joined(...committed, ...settled),
    mutable: joined(...news.slice(gone > 0 ? gone : agreed)),
  };
}

export const wholeText = ({ committed, mutable }: LiveTranscript): string =>
  [committed, mutable].filter((text) => text !== '').join(' ');
