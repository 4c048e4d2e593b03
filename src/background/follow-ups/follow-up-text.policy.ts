export const FOLLOW_UP_TEXT_CHARACTERS_MAX = 8_000;

/** Truncates a text to the maximum length and marks that with an ellipsis. */
export function clipped(text: string): string {
  if (text.length <= FOLLOW_UP_TEXT_CHARACTERS_MAX) return text;
  return `${text.slice(0, FOLLOW_UP_TEXT_CHARACTERS_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The question of the turn that reports all follow-ups with these texts. */
export const questionOf = (texts: readonly string[]): string =>
  texts.length === 1 ? texts[0]! : texts.map((text, index) => `${index + 1}. ${text}`).join('\n\n');
