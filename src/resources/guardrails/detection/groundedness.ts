type GroundednessSettings = Readonly<{ min_overlap: number; min_words: number; require_retrieval: boolean }>;

/** Words. In scripts without spaces between words, each character counts as a word. */
const WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}]+/gu;
const SMALL_WORD_MAX = 2;

const wordsOf = (text: string): readonly string[] => text.normalize('NFKC').toLowerCase().match(WORDS) ?? [];

/** Words that say what a text is about. Short words of alphabetic scripts occur in every text. */
const isTelling = (word: string) => word.length > SMALL_WORD_MAX || !/^[a-z\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word);

export type Groundedness = Readonly<{ category: 'UNGROUNDED' | 'NO_SOURCES'; score: number }>;

/**
 * Why an answer is not based on the documents: too few of its words occur in them, or there are none. Undefined if the answer is
 * grounded or too short to decide.
 */
export function ungrounded(
  answer: string,
  documents: readonly string[],
  { min_overlap: overlapMin, min_words: wordsMin, require_retrieval: requiresRetrieval }: GroundednessSettings,
): Groundedness | undefined {
  const words = wordsOf(answer);
  if (words.length < wordsMin) return undefined;
  if (documents.length === 0) return requiresRetrieval ? { category: 'NO_SOURCES', score: 0 } : undefined;
  const telling = new Set(words.filter(isTelling));
  const known = new Set(documents.flatMap(wordsOf));
  const shared = [...telling].filter((word) => known.has(word)).length;
  const overlap = telling.size === 0 ? 1 : shared / telling.size;
  return overlap < overlapMin ? { category: 'UNGROUNDED', score: overlap } : undefined;
}
