/** Postgres keeps any character in a text but NUL; where a fact has one, the read model shows the replacement character. */
export const asText = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text);
