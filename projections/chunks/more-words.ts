/** Scripts that are written without spaces between words: Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Words that Postgres keeps as one: paths and dotted names. */
const COMPOUND = /[\p{L}\p{N}_-]+(?:[./:@][\p{L}\p{N}_-]+)+/gu;
const CAMEL_CASE = /\b\p{L}*\p{Ll}\p{Lu}\p{L}*\b/gu;

/** Longer runs are not words. */
const RUN_CHARACTERS_MAX = 200;

/**
 * What else a text can be found by: pairs of neighbouring characters where words have no spaces between them, the parts of
 * dotted names and paths, and the parts of names in camel case.
 */
export function moreWords(text: string): string {
  const words = new Set<string>();
  for (const [run] of text.matchAll(UNSPACED)) for (const pair of pairsOf(run)) words.add(pair);
  for (const [compound] of text.matchAll(COMPOUND)) {
    if (compound.length <= RUN_CHARACTERS_MAX) for (const part of compound.split(/[./:@_-]+/)) words.add(part);
  }
  for (const [name] of text.matchAll(CAMEL_CASE)) {
    if (name.length <= RUN_CHARACTERS_MAX) for (const part of name.split(/(?<=\p{Ll})(?=\p{Lu})/u)) words.add(part);
  }
  return [...words].filter((word) => word.length > 1).join(' ');
}

function pairsOf(run: string): readonly string[] {
  const characters = [...run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
