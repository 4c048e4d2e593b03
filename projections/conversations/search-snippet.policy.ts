/** The length of the text shown on either side of a match. */
const SNIPPET_CHARACTERS = 60;

/** The part of a matched text around the text that was searched, without half of a surrogate pair at its ends. */
export function snippetOf(matched: string, text: string): string {
  const at = placeOf(matched, text);
  const from = cutAt(matched, Math.max(0, at - SNIPPET_CHARACTERS));
  const to = cutAt(matched, Math.min(matched.length, at + text.length + SNIPPET_CHARACTERS));
  return `${from > 0 ? '…' : ''}${matched.slice(from, to)}${to < matched.length ? '…' : ''}`;
}

/** Where the text is, in any case. The lower case of some characters is longer than they are. */
function placeOf(matched: string, text: string): number {
  const lowered = matched.toLowerCase();
  const at = Math.max(0, lowered.indexOf(text.toLowerCase()));
  if (lowered.length === matched.length) return at;
  let [place, passed] = [0, 0];
  for (const character of matched) {
    if (passed >= at) break;
    place += character.length;
    passed += character.toLowerCase().length;
  }
  return place;
}

/** The index, or the next one if a cut there would split a surrogate pair. */
const cutAt = (text: string, index: number): number => (/[\uDC00-\uDFFF]/.test(text.charAt(index)) ? index + 1 : index);
