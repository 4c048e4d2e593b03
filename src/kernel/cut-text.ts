/** The first UTF-16 units of a text, without half of a surrogate pair at the end, which many JSON parsers refuse. */
export const cutText = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');

/** The text within a length. An ellipsis stands for what is left out. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : `${cutText(text, length - 1)}…`;
