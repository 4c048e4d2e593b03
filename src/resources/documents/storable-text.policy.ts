/** The text without NUL and lone surrogates, which database columns do not accept. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '');
