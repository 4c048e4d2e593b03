/** The number of pieces that become one string. */
const PIECES_MAX = 64;

/**
 * A text that arrives in pieces. A string that grows with `+=` holds every piece, and a node that joins it, until the text is read.
 * For the tokens of an answer that is fifteen times the memory of the text.
 */
export class GrowingText {
  private parts: string[];
  private pieces: string[] = [];

  constructor(start = '') {
    this.parts = [start];
  }

  get text(): string {
    this.parts = [[...this.parts, ...this.pieces.splice(0)].join('')];
    return this.parts[0]!;
  }

  add(piece: string): void {
    if (this.pieces.push(piece) === PIECES_MAX) this.parts.push(this.pieces.splice(0).join(''));
  }
}
