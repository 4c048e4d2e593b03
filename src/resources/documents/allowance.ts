import type { ParsingLimits } from './limits.js';
import { tooLarge } from './refusals.js';

/**
 * How much text a document may give, counted while it is written: what repeats the names of its columns or keys could give a
 * thousand times as much as there is in the file.
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

  /** Says how many characters are written next. @throws Rejection `document-too-large` */
  spend(chars: number): void {
    this.left -= chars;
    if (this.left < 0) throw tooLarge(this.filename, 'written out, its text is too long.');
  }
}
