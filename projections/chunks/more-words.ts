/** Scripts that are written without spaces between words: Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Words with the characters between them that make Postgres index them as one word, as in paths and dotted names. */
const JOINED = /[\p{L}\p{N}_./:@-]+/gu;
const JOINT = /[./:@]/u;
/** Two or more joining characters separate words, as after the scheme of a URL. */
const GAP = /[./:@]{2,}/u;

const LETTERS = /\p{L}+/gu;
const CAMEL_HUMP = /(?<=\p{Ll})(?=\p{Lu})/u;

/** Longer runs of characters are not treated as words. */
const RUN_CHARACTERS_MAX = 200;

/**
 * Further words by which a text is found: pairs of neighbouring characters in scripts without spaces, the parts of dotted names
 * and paths, and the parts of names in camel case. The time is linear in the length of any text, because no pattern here reads a
 * character twice.
 */
export function moreWords(text: string): string {
  const words = new Set<string>();
  for (const [run] of text.matchAll(UNSPACED)) for (const pair of pairsOf(run)) words.add(pair);
  for (const [run] of text.matchAll(JOINED)) {
    for (const compound of run.split(GAP)) for (const part of partsOf(compound)) words.add(part);
  }
  for (const [name] of text.matchAll(LETTERS)) {
    if (name.length > RUN_CHARACTERS_MAX) continue;
    const humps = name.split(CAMEL_HUMP);
    if (humps.length > 1) for (const hump of humps) words.add(hump);
  }
  return [...words].filter((word) => word.length > 1).join(' ');
}

function pairsOf(run: string): readonly string[] {
  const characters = [...run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

function partsOf(compound: string): readonly string[] {
  const joined = compound.split(JOINT).filter((part) => part !== '');
  if (joined.length < 2 || compound.length > RUN_CHARACTERS_MAX) return [];
  return joined.flatMap((part) => part.split(/[_-]+/));
}
