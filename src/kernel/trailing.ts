/** The text without these characters at its end. A pattern such as `/x+$/` takes quadratic time on long runs of them. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
