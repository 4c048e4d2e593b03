import { Rejection } from './rejection.js';

/** Maximum nesting of objects and arrays: far more than real requests have, far less than overflows the stack. */
export const JSON_DEPTH_MAX = 100;
/** Maximum number of object fields and array elements on all levels together. Parsing one takes 0.6 µs, handling it more. */
export const JSON_ENTRIES_MAX = 20_000;
/** V8 hashes strings of 16 KiB and more by their length only, so many long keys would be compared pair by pair. */
export const JSON_KEY_BYTES_MAX = 8 * 1024;
/** Parsing a backslash takes as long as parsing ten other bytes. An 8 MB API description has half as many, before its quotes. */
export const JSON_ESCAPES_MAX = 1_000_000;
/** Maximum bytes of numbers, literals, white space and punctuation: far more than JSON_ENTRIES_MAX indented entries have. */
const JSON_BARE_BYTES_MAX = 1024 * 1024;

export type JsonLimits = Readonly<{
  depthMax: number;
  entriesMax: number;
  keyBytesMax: number;
  escapesMax: number;
  bareBytesMax: number;
}>;

export const JSON_LIMITS: JsonLimits = {
  depthMax: JSON_DEPTH_MAX,
  entriesMax: JSON_ENTRIES_MAX,
  keyBytesMax: JSON_KEY_BYTES_MAX,
  escapesMax: JSON_ESCAPES_MAX,
  bareBytesMax: JSON_BARE_BYTES_MAX,
};

const [SPACE, QUOTE, COMMA, COLON, BACKSLASH] = [0x20, 0x22, 0x2c, 0x3a, 0x5c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The structural characters of JSON, and the quote. */
const MARKS = new Uint8Array(256);
for (const mark of [QUOTE, COMMA, COLON, BRACE, BRACE_END, BRACKET, BRACKET_END]) MARKS[mark] = 1;
/** Longer parts of a string are searched by `Buffer.indexOf`, which takes a twentieth of the time. */
const SHORT_BYTES = 48;

/**
 * Checks the limits of a JSON text while its bytes arrive, before the text is parsed. The parser itself has no limits, and an
 * entry takes as much memory as a hundred bytes of text. The meter does not check syntax, only the amount of punctuation.
 */
export class JsonMeter {
  private entries = 0;
  private marks = 0;
  private depth = 0;
  private escapes = 0;
  private bareBytes = 0;
  private isQuoted = false;
  /** Whether the newest bracket is open and still empty. */
  private isFresh = false;
  /** Length in bytes of the newest string. The string is a key if a colon follows. */
  private stringBytes = 0;
  /** Number of bytes at the start of the next chunk that belong to an escape sequence of this one. */
  private taken = 0;
  /** The next backslash of the chunk, if it was searched for. Each search may go through the whole chunk. */
  private backslash = -1;
  private readonly marksMax: number;

  /** @param what names the text in error messages, for example `The body` */
  constructor(
    private readonly what: string,
    private readonly limits: JsonLimits = JSON_LIMITS,
  ) {
    // An entry has at most two strings, a colon, a comma and two brackets.
    this.marksMax = 6 * (limits.entriesMax + 1);
  }

  /** @throws Rejection invalid-request (nested too deep, or invalid JSON), too-large */
  read(bytes: Buffer): void {
    let at = this.taken;
    this.backslash = -1;
    while (at < bytes.length) at = this.isQuoted ? this.readString(bytes, at) : this.readBare(bytes, at);
    this.taken = at - bytes.length;
  }

  /** Reads to the end of the string or of the bytes, and returns the next offset. */
  private readString(bytes: Buffer, from: number): number {
    let at = from;
    let quote = -1;
    while (at < bytes.length) {
      const near = Math.min(at + SHORT_BYTES, bytes.length);
      while (at < near && bytes[at] !== QUOTE) {
        if (bytes[at] === BACKSLASH) {
          this.escapes++;
          at += 2;
        } else at++;
      }
      if (at >= bytes.length || bytes[at] === QUOTE) break;
      if (quote < at) quote = placeOf(QUOTE, bytes, at);
      if (this.backslash < at) this.backslash = placeOf(BACKSLASH, bytes, at);
      at = Math.min(quote, this.backslash);
    }
    this.stringBytes += at - from;
    if (this.escapes > this.limits.escapesMax) throw this.tooMuch(`more than ${this.limits.escapesMax} escaped characters`);
    if (at >= bytes.length) return at;
    this.isQuoted = false;
    return at + 1;
  }

  /** Reads to the next string or the end of the bytes, and returns the next offset. */
  private readBare(bytes: Buffer, from: number): number {
    const { length } = bytes;
    let at = from;
    while (at < length && !this.isQuoted) {
      if (this.isFresh) {
        while (at < length && bytes[at]! <= SPACE) at++;
        if (at === length) break;
        this.isFresh = false;
        if (bytes[at] !== BRACE_END && bytes[at] !== BRACKET_END) this.countEntry();
      }
      while (at < length && MARKS[bytes[at]!] === 0) at++;
      if (at < length) this.readMark(bytes[at++]!);
    }
    this.bareBytes += at - from;
    const { bareBytesMax } = this.limits;
    if (this.bareBytes > bareBytesMax) throw this.tooMuch(`more than ${bareBytesMax} bytes outside of strings`);
    return at;
  }

  private readMark(byte: number): void {
    if (++this.marks > this.marksMax) throw this.noJson();
    if (byte === QUOTE) {
      this.isQuoted = true;
      this.stringBytes = 0;
    } else if (byte === COMMA) this.countEntry();
    else if (byte === BRACE || byte === BRACKET) {
      this.isFresh = true;
      if (++this.depth > this.limits.depthMax) throw this.tooDeep();
    } else if (byte === BRACE_END || byte === BRACKET_END) this.depth--;
    else if (this.stringBytes > this.limits.keyBytesMax)
      throw this.tooMuch(`a key of more than ${this.limits.keyBytesMax} bytes`);
  }

  private countEntry(): void {
    const { entriesMax } = this.limits;
    if (++this.entries > entriesMax) throw this.tooMuch(`more than ${entriesMax} fields of objects and elements of arrays`);
  }

  private noJson(): Rejection {
    return new Rejection('invalid-request', `${this.what} is not valid JSON.`);
  }

  private tooDeep(): Rejection {
    return new Rejection('invalid-request', `${this.what} is nested deeper than ${this.limits.depthMax} levels.`);
  }

  private tooMuch(of: string): Rejection {
    return new Rejection('too-large', `${this.what} holds ${of}.`);
  }
}

function placeOf(byte: number, bytes: Buffer, from: number): number {
  const place = bytes.indexOf(byte, from);
  return place < 0 ? bytes.length : place;
}

/** Parses a JSON text, for example of a form field or a model. @throws SyntaxError; Rejection past a limit */
export function parseBoundedJson(text: string, what: string, limits = JSON_LIMITS): unknown {
  new JsonMeter(what, limits).read(Buffer.from(text));
  return JSON.parse(text) as unknown;
}
