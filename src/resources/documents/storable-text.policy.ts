/** A text that any column takes: without NUL, and without halves of characters. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '');
