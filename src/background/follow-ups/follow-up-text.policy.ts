import { shortened } from '../../kernel/cut-text.js';

export const FOLLOW_UP_TEXT_CHARACTERS_MAX = 8_000;

/** Truncates a text to the maximum length and marks that with an ellipsis. */
export const clipped = (text: string): string => shortened(text, FOLLOW_UP_TEXT_CHARACTERS_MAX);

/** The question of the turn that reports all follow-ups with these texts. */
export const questionOf = (texts: readonly string[]): string =>
  texts.length === 1 ? texts[0]! : texts.map((text, index) => `${index + 1}. ${text}`).join('\n\n');
