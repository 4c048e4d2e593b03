import { Rejection } from '../../../kernel/rejection.js';

/** Clients tell by the word in front that a call came to nothing. */
export const errorText = (text: string): string => `Error: ${text}`;

/** A refusal is a text like any other result, in the words of the tool where it has its own for it. */
export async function failuresAsText<T>(
  work: () => Promise<T>,
  words: Readonly<Record<string, string>> = {},
): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Rejection) return errorText(words[error.code] ?? error.message);
    throw error;
  }
}
