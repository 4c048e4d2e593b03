/**
 * Characters that do not end a line of an event stream, but do for readers that use Unicode's rules, such as Python's
 * `str.splitlines`.
 */
const SEPARATORS = /[\u0085\u2028\u2029]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The JSON of a value for a `data:` line, without characters that any reader takes for the end of a line. */
export const sseData = (value: object): string => JSON.stringify(value).replaceAll(SEPARATORS, escaped);
