/** The transcript of a user who is still speaking. */
export type LiveTranscript = Readonly<{
  language: string | null;
  /** Words that two chunks agree on. They do not change any more. */
  committed: string;
  /** Words that only the latest chunk contains. The next chunk may replace them. */
  mutable: string;
  /** The index of the latest chunk. -1 before the first. */
  lastChunk: number;
}>;

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');
const bare = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
const isSame = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && (one === other || (bare(one) !== '' && bare(one) === bare(other)));
const joined = (...words: readonly string[]): string => words.join(' ');

/** The number of words at the end of one text that are also the beginning of the other. */
function overlapOf(before: readonly string[], after: readonly string[]): number {
  for (let size = Math.min(before.length, after.length); size > 0; size--) {
    if (after.slice(0, size).every((word, place) => isSame(before[before.length - size + place], word))) return size;
  }
  return 0;
}

/**
 * The transcript after one more chunk. Words that two chunks agree on are committed. A chunk may hold all that was said so far or
 * only the end of it.
 */
export function withHeard(before: LiveTranscript, text: string, chunk: number, language: string | null): LiveTranscript {
  const next = { ...before, lastChunk: chunk, language: before.language ?? language };
  const heard = wordsOf(text);
  if (heard.length === 0) return next;
  const [committed, mutable] = [wordsOf(before.committed), wordsOf(before.mutable)];
  const additions = heard.slice(overlapOf(committed, heard));
  let agreed = 0;
  while (isSame(mutable[agreed], additions[agreed])) agreed++;
  // The chunk begins in the middle of the mutable words: the words before are past, so all mutable words are committed.
  const gone = agreed === 0 ? overlapOf(mutable, additions) : 0;
  const settled = gone > 0 ? mutable : additions.slice(0, agreed);
  return {
    ...next,
    committed: joined(...committed, ...settled),
    mutable: joined(...additions.slice(gone > 0 ? gone : agreed)),
  };
}

export const wholeText = ({ committed, mutable }: LiveTranscript): string =>
  [committed, mutable].filter((text) => text !== '').join(' ');
