import { Rejection } from '../../../kernel/rejection.js';

/** The text of a failed call. Clients recognize it by this prefix. */
export const errorText = (text: string): string => `Error: ${text}`;

/** Turns a rejection into a text result, with the words of the tool if it has its own for the code. */
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
