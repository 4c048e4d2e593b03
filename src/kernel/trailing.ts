/** The text up to the last character that is none of these. A pattern such as `/x+$/` takes the square of a long run of them. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
