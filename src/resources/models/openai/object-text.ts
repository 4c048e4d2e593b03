const [QUOTE, BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

/** The white space of JSON. */
const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** A text that arrives in pieces and may become a JSON object. Each character is read once, and the object is parsed once. */
export class ObjectText {
  private pieces = '';
  private depth = 0;
  private isQuoted = false;
  private isEscaped = false;
  /** `over`: text follows the object, or something else came first. The text can no longer become an object. */
  private state: 'before' | 'within' | 'closed' | 'over' = 'before';
  private parses: boolean | undefined;

  get text(): string {
    return this.pieces;
  }

  /** Whether the text is a complete JSON object, with or without white space around it. */
  get isWhole(): boolean {
    return this.state === 'closed' && (this.parses ??= isJson(this.pieces));
  }

  add(piece: string): void {
    this.pieces += piece;
    for (let at = 0; at < piece.length && this.state !== 'over'; at++) this.read(piece.charCodeAt(at));
  }

  private read(code: number): void {
    if (this.state !== 'within') {
      if (this.state === 'before' && code === BRACE) [this.state, this.depth] = ['within', 1];
      else if (!isSpace(code)) this.state = 'over';
    } else if (this.isEscaped) this.isEscaped = false;
    else if (this.isQuoted) {
      this.isEscaped = code === BACKSLASH;
      this.isQuoted = code !== QUOTE;
    } else if (code === QUOTE) this.isQuoted = true;
    else if (code === BRACE || code === BRACKET) this.depth++;
    else if ((code === BRACE_END || code === BRACKET_END) && --this.depth === 0) this.state = 'closed';
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
