import { isTrailSurrogate, tokenCount } from './token-count.js';

/** Tokens are counted in steps of this size, so that a long rest of the text is never counted. */
const STEP_CHARACTERS = 10_000;

/** A text is cut at the last line end only if it is at most this far before the limit. */
const LINE_CHARACTERS_MAX = 1_000;

export type TextHead = Readonly<{ text: string; tokens: number; isCut: boolean }>;

/** The beginning of a text with at most `tokensMax` tokens, cut at the end of a line if one is near. */
export function headOf(text: string, tokensMax: number): TextHead {
  let [end, tokens] = [0, 0];
  for (let step = STEP_CHARACTERS; end < text.length;) {
    const next = wholeCharacters(text, Math.min(text.length, end + step));
    const more = tokenCount(text.slice(end, next));
    if (tokens + more <= tokensMax) [end, tokens] = [next, tokens + more];
    else if (step > 1) step = Math.floor(step / 10);
    else break;
  }
  if (end === text.length) return { text, tokens, isCut: false };
  const lineEnd = text.lastIndexOf('\n', end - 1) + 1;
  const head = text.slice(0, lineEnd > Math.max(0, end - LINE_CHARACTERS_MAX) ? lineEnd : end);
  return { text: head, tokens: tokenCount(head), isCut: true };
}

const wholeCharacters = (text: string, end: number): number => (isTrailSurrogate(text.charCodeAt(end)) ? end + 1 : end);
