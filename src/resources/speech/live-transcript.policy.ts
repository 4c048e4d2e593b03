import { Rejection } from '../../kernel/rejection.js';

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

/** The maximum length of a live transcript and of what is heard in a chunk. */
export const LIVE_CHARACTERS_MAX = 60_000;

export const transcriptTooLong = () =>
  new Rejection('too-large', `A live transcript has at most ${LIVE_CHARACTERS_MAX} characters`);

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');
const bare = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
/** Words are the same if they differ only in case and punctuation. */
const keyOf = (word: string): string => bare(word) || word;
const isSame = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && keyOf(one) === keyOf(other);

/** The number of words at the end of one text that are also the beginning of the other, in linear time. */
function overlapOf(before: readonly string[], after: readonly string[]): number {
  const keys = [...after.map(keyOf), null, ...before.map(keyOf)];
  /** For each place the length of the longest beginning of `keys` that ends there. Knuth, Morris and Pratt's prefix function. */
  const lengths = [0];
  for (let at = 1; at < keys.length; at++) {
    let length = lengths[at - 1]!;
    while (length > 0 && keys[length] !== keys[at]) length = lengths[length - 1]!;
    lengths.push(keys[length] === keys[at] ? length + 1 : 0);
  }
  return lengths.at(-1)!;
}

/**
 * The transcript after one more chunk. Words that two chunks agree on are committed. A chunk may hold all that was said so far or
 * only the end of it. @throws Rejection too-large
 */
export function withHeard(before: LiveTranscript, text: string, chunk: number, language: string | null): LiveTranscript {
  const next = { ...before, lastChunk: chunk, language: before.language ?? language };
  if (text.length > LIVE_CHARACTERS_MAX) throw transcriptTooLong();
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
    committed: [...committed, ...settled].join(' '),
    mutable: additions.slice(gone > 0 ? gone : agreed).join(' '),
  };
}

export const wholeText = ({ committed, mutable }: LiveTranscript): string =>
  [committed, mutable].filter((text) => text !== '').join(' ');
