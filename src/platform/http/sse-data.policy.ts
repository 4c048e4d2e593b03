/** No ends of lines in an event stream, but to readers that split by Unicode's rules, as Python's `str.splitlines` does. */
const SEPARATORS = /[\u0085\u2028\u2029]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A value as the JSON of a `data:` line, which is one line to every reader. */
export const sseData = (value: object): string => JSON.stringify(value).replaceAll(SEPARATORS, escaped);
