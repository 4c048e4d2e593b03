/** The longest text of one follow-up, in characters. */
export const FOLLOW_UP_TEXT_CHARACTERS_MAX = 8_000;

/** A text that is not longer than it may be, and says so where it was. */
export function clipped(text: string): string {
  if (text.length <= FOLLOW_UP_TEXT_CHARACTERS_MAX) return text;
  return `${text.slice(0, FOLLOW_UP_TEXT_CHARACTERS_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The question of the one turn that reports all of it. */
export const questionOf = (texts: readonly string[]): string =>
  texts.length === 1 ? texts[0]! : texts.map((text, index) => `${index + 1}. ${text}`).join('\n\n');
