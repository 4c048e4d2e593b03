/** Words that carry no meaning for retrieval. */
const STOP_WORDS = new Set(
  `a about am an and any are as at be been but by can could did do does for from get give had happen happened happens has have how i if in into is it its
  many may me more most much must my no not of on or our please show should so some such tell than that the their them then there
  these they this those to us was we were what when where which while who whom whose why will with would you your explain describe`
    .split(/\s+/)
    .filter(Boolean),
);

const TERMS_MAX = 400;

/** The meaningful words of a text: lower case, without diacritics, plural endings and the most common verb endings. */
export function termsOf(text: string): readonly string[] {
  const words =
    text
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .filter((word) => !STOP_WORDS.has(word))
    .slice(0, TERMS_MAX)
    .map(stem);
}

function stem(word: string): string {
  if (word.length > 6 && word.endsWith('ing')) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && word.endsWith('ed')) return word.slice(0, -2);
  if (word.length > 4 && /(?:ss|x|sh|ch)es$/.test(word)) return word.slice(0, -2);
  if (word.length > 3 && word.endsWith('s') && !word.endsWith('ss')) return word.slice(0, -1);
  return word.length > 4 && word.endsWith('e') ? word.slice(0, -1) : word;
}
