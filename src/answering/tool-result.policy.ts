/** What a model is told of one result: about 20,000 tokens. Of a longer one it gets the beginning and the end. */
export const MODEL_RESULT_CHARACTERS_MAX = 70_000;
/** What is shown and kept of one result. */
export const SHOWN_RESULT_CHARACTERS_MAX = 2_000;

export const textOf = (result: unknown): string => (typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null'));

export function forModel(text: string, charactersMax = MODEL_RESULT_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text;
  const half = Math.floor(charactersMax / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n… (${left} characters are left out here) …\n${text.slice(-half)}`;
}

/** The value as it is where it is short, else the beginning of its text. */
export function forReader(result: unknown): unknown {
  const text = textOf(result);
  if (text.length <= SHOWN_RESULT_CHARACTERS_MAX) return result ?? null;
  return `${text.slice(0, SHOWN_RESULT_CHARACTERS_MAX)}...`;
}

/** Tools that answer at all may still say that it went wrong. */
export function isErrorResult(result: unknown): boolean {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return false;
  const { status, error } = result as { status?: unknown; error?: unknown };
  return status === 'error' || Boolean(error);
}
