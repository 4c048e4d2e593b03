import { cutText } from '../../../kernel/cut-text.js';

/** Maximum length of a result for the model, about 20,000 tokens. Of a longer result the model gets the beginning and the end. */
export const MODEL_RESULT_CHARACTERS_MAX = 70_000;
/** Maximum length of a result in a call record. */
export const SHOWN_RESULT_CHARACTERS_MAX = 2_000;
/** Maximum size of a result in a call record as JSON, for text with characters of more than one byte. */
export const SHOWN_RESULT_BYTES_MAX = 3 * 1024;
const ELLIPSIS = '...';
/** Maximum length of the text that replaces the omitted middle. */
const GAP_CHARACTERS_MAX = 64;

export const textOf = (result: unknown): string => (typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null'));

/** The text as the model gets it: unchanged if it has at most `charactersMax` characters, otherwise without its middle. */
export function forModel(text: string, charactersMax = MODEL_RESULT_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text;
  const half = Math.max(0, Math.floor((charactersMax - GAP_CHARACTERS_MAX) / 2));
  const end = text.length - half;
  const last = text.slice(isLowSurrogate(text, end) ? end + 1 : end);
  return `${cutText(text, half)}\n… (${text.length - 2 * half} characters are left out here) …\n${last}`;
}

/** The result for a call record: its text, of a long one the beginning. It is text for all results, because clients expect it. */
export function forReader(result: unknown): string | null {
  if (result === null || result === undefined) return null;
  const text = textOf(result);
  if (text.length <= SHOWN_RESULT_CHARACTERS_MAX && bytesOf(text) <= SHOWN_RESULT_BYTES_MAX) return text;
  let shown = cutText(text, SHOWN_RESULT_CHARACTERS_MAX);
  while (bytesOf(shown + ELLIPSIS) > SHOWN_RESULT_BYTES_MAX) shown = cutText(shown, Math.floor(shown.length * 0.9));
  return shown + ELLIPSIS;
}

/** Whether a result reports an error. Some tools return errors instead of throwing them. */
export function isErrorResult(result: unknown): boolean {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return false;
  const { status, error } = result as { status?: unknown; error?: unknown };
  return status === 'error' || Boolean(error);
}

const bytesOf = (value: string): number => Buffer.byteLength(JSON.stringify(value));

/** Whether a cut here would split a surrogate pair. */
const isLowSurrogate = (text: string, at: number): boolean => /[\uDC00-\uDFFF]/.test(text.charAt(at));
