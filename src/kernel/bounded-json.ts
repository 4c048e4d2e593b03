import { Rejection } from './rejection.js';

/** Objects and arrays may be nested this deep: far more than anybody writes, far less than recursion survives. */
export const JSON_DEPTH_MAX = 100;
/** Fields of objects and elements of arrays, on all levels together: 0.6 µs each to parse, and some more to work on. */
export const JSON_ENTRIES_MAX = 20_000;
/** V8 hashes texts by their length alone from 16 KiB on, so that long keys would be compared each with each. */
export const JSON_KEY_BYTES_MAX = 8 * 1024;
/** A backslash costs as much as ten other bytes. A description of an API of 8 MB has half as many in front of its quotes. */
export const JSON_ESCAPES_MAX = 1_000_000;
/** Numbers, words, blanks and punctuation: far more than so many entries have, however they are indented. */
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

/** What JSON is made of besides texts, numbers and words. */
const MARKS = new Uint8Array(256);
for (const mark of [QUOTE, COMMA, COLON, BRACE, BRACE_END, BRACKET, BRACKET_END]) MARKS[mark] = 1;
/** A longer piece of a string is searched natively, which takes a twentieth of the time. */
const SHORT_BYTES = 48;

/**
 * Measures a JSON text as its bytes come in, before anything of it is parsed: a parser builds whatever it is given, and an
 * entry costs as much as a hundred bytes of text. Of the syntax it knows only how much punctuation so many entries may have.
 */
export class JsonMeter {
  private entries = 0;
  private marks = 0;
  private depth = 0;
  private escapes = 0;
  private bareBytes = 0;
  private isQuoted = false;
  /** After an opening bracket, until something stands in it. */
  private isFresh = false;
  /** Bytes of the newest string, which is a key if a colon follows. */
  private stringBytes = 0;
  /** Bytes of what comes next that an escape has already taken. */
  private taken = 0;
  private readonly marksMax: number;

  /** @param what the text is to whom it is refused */
  constructor(
    private readonly what: string,
    private readonly limits: JsonLimits = JSON_LIMITS,
  ) {
    // An entry has two strings, a colon, a comma and two brackets at most.
    this.marksMax = 6 * (limits.entriesMax + 1);
  }

  /** @throws Rejection invalid-request (too deep, or no JSON), too-large */
  read(bytes: Buffer): void {
    let at = this.taken;
    while (at < bytes.length) at = this.isQuoted ? this.readString(bytes, at) : this.readBare(bytes, at);
    this.taken = at - bytes.length;
  }

  /** Up to the end of the string, or of the bytes. */
  private readString(bytes: Buffer, from: number): number {
    let at = from;
    let [quote, backslash] = [-1, -1];
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
      if (backslash < at) backslash = placeOf(BACKSLASH, bytes, at);
      at = Math.min(quote, backslash);
    }
    this.stringBytes += at - from;
    if (this.escapes > this.limits.escapesMax) throw this.tooMuch(`more than ${this.limits.escapesMax} escaped characters`);
    if (at >= bytes.length) return at;
    this.isQuoted = false;
    return at + 1;
  }

  /** Up to the next string, or the end of the bytes. */
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

/** What a JSON text says that came within something else, as a field may. @throws SyntaxError; Rejection past a limit */
export function parseBoundedJson(text: string, what: string): unknown {
  new JsonMeter(what).read(Buffer.from(text));
  return JSON.parse(text) as unknown;
}
