import type { ParsingLimits } from './limits.js';
import { tooLarge } from './refusals.js';

/**
 * Limits the text of a document while it is written out. Repeating the names of columns or keys could multiply the size of the
 * file by a thousand.
 */
export class TextAllowance {
  private left: number;

  constructor(
    private readonly filename: string,
    limits: ParsingLimits,
    bytes: number,
  ) {
    const { textCharsMin, textCharsMax, textCharsPerByteMax } = limits;
    this.left = Math.min(textCharsMax, Math.max(textCharsMin, bytes * textCharsPerByteMax));
  }

  /** Counts characters that are about to be written. @throws Rejection `document-too-large` */
  spend(chars: number): void {
    this.left -= chars;
    if (this.left < 0) throw tooLarge(this.filename, 'its text is too long when it is written out.');
  }
}
