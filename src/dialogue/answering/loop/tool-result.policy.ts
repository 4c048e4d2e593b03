/** How much of one result a model gets: about 20,000 tokens. Of a longer one it gets the beginning and the end. */
export const MODEL_RESULT_CHARACTERS_MAX = 70_000;
/** What is shown and kept of one result. */
export const SHOWN_RESULT_CHARACTERS_MAX = 2_000;
/** The same as JSON, for text of characters that take more than one byte. */
export const SHOWN_RESULT_BYTES_MAX = 3 * 1024;
const ELLIPSIS = '...';
/** What stands for the middle that is left out, whatever its length. */
const GAP_CHARACTERS_MAX = 64;

export const textOf = (result: unknown): string => (typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null'));

/** No longer than allowed, whatever is left out; of what is short enough, nothing is. */
export function forModel(text: string, charactersMax = MODEL_RESULT_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text;
  const half = Math.max(0, Math.floor((charactersMax - GAP_CHARACTERS_MAX) / 2));
  const end = text.length - half;
  const last = text.slice(isLowSurrogate(text, end) ? end + 1 : end);
  return `${beginningOf(text, half)}\n… (${text.length - 2 * half} characters are left out here) …\n${last}`;
}

/** The value as it is where it is short, else the beginning of its text. */
export function forReader(result: unknown): unknown {
  const text = textOf(result);
  const isShort = text.length <= SHOWN_RESULT_CHARACTERS_MAX;
  if (isShort && bytesOf(result ?? null) <= SHOWN_RESULT_BYTES_MAX) return result ?? null;
  let shown = beginningOf(text, SHOWN_RESULT_CHARACTERS_MAX);
  while (bytesOf(shown + ELLIPSIS) > SHOWN_RESULT_BYTES_MAX) shown = beginningOf(shown, Math.floor(shown.length * 0.9));
  return shown + ELLIPSIS;
}

/** Tools that answer at all may still say that it went wrong. */
export function isErrorResult(result: unknown): boolean {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return false;
  const { status, error } = result as { status?: unknown; error?: unknown };
  return status === 'error' || Boolean(error);
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Half a character is none: many a reader of JSON refuses it. */
const isLowSurrogate = (text: string, at: number): boolean => /[\uDC00-\uDFFF]/.test(text.charAt(at));
const beginningOf = (text: string, characters: number): string =>
  text.slice(0, isLowSurrogate(text, characters) ? characters - 1 : characters);
