import { LRUCache } from 'lru-cache';

/**
 * A text in the normal form that detectors search: Unicode NFKC without invisible characters; digits of all scripts become 0–9,
 * characters that look like Latin letters become these, and all variants of dash, dot and space become the plain ones. Offsets
 * map back to the original.
 */
export class FoldedText {
  private constructor(
    readonly text: string,
    private readonly length: number,
    /** The start and end of each character in the original; undefined if folding changed no offsets. */
    private readonly origins?: Readonly<{ starts: readonly number[]; ends: readonly number[] }>,
  ) {}

  static of(original: string, ignoresCase: boolean): FoldedText {
    if (IS_ASCII.test(original)) return new FoldedText(ignoresCase ? original.toLowerCase() : original, original.length);
    let text = '';
    const starts: number[] = [];
    const ends: number[] = [];
    const append = (folded: string, start: number, end: number) => {
      text += folded;
      for (let at = 0; at < folded.length; at++) {
        starts.push(start);
        ends.push(end);
      }
    };
    const appendPlain = (from: number, to: number) => {
      text += ignoresCase ? original.slice(from, to).toLowerCase() : original.slice(from, to);
      for (let at = from; at < to; at++) {
        starts.push(at);
        ends.push(at + 1);
      }
    };
    let end = 0;
    for (const { 0: foreign, index } of original.matchAll(FOREIGN)) {
      appendPlain(end, index);
      for (const { 0: cluster, index: at } of foreign.matchAll(CLUSTERS)) {
        append(fold(cluster, ignoresCase), index + at, index + at + cluster.length);
      }
      end = index + foreign.length;
    }
    appendPlain(end, original.length);
    return new FoldedText(text, original.length, { starts, ends });
  }

  /** The offset in the original at which a character begins. The end of the text maps to the end of the original. */
  startOf(offset: number): number {
    if (offset >= this.text.length) return this.length;
    return this.origins?.starts[offset] ?? offset;
  }

  /** The offset in the original at which the character before `offset` ends. */
  endOf(offset: number): number {
    if (offset <= 0) return 0;
    return this.origins?.ends[offset - 1] ?? offset;
  }
}

/** A term or setting, folded for comparison with folded texts. */
export const foldedTerm = (term: string, ignoresCase: boolean): string => FoldedText.of(term, ignoresCase).text;

const IS_ASCII = /^[\0-\x7f]*$/;

/** Runs of non-ASCII characters with the character before them, to which combining marks may belong. */
const FOREIGN = /[\0-\x7f]?[^\0-\x7f]+/g;

/** Single characters with their combining marks; decomposed Korean syllables stay together. */
const CLUSTERS = /[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[\0-\u{10ffff}]\p{M}{0,30}/gu;

const FOLDED_MAX = 10_000;
const [asWritten, inLowerCase] = [
  new LRUCache<string, string>({ max: FOLDED_MAX }),
  new LRUCache<string, string>({ max: FOLDED_MAX }),
];

function fold(cluster: string, ignoresCase: boolean): string {
  const cache = ignoresCase ? inLowerCase : asWritten;
  const known = cache.get(cluster);
  if (known !== undefined) return known;
  const plain = cluster.replace(NOT_SHOWN, '').normalize('NFKC').replace(NOT_SHOWN, '');
  const folded = Array.from(ignoresCase ? lowerCaseOf(plain) : plain, foldCharacter).join('');
  cache.set(cluster, folded);
  return folded;
}

const NOT_SHOWN = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/** Maps `ß` and `SS` to `ss`, and the three forms of sigma to one. */
const lowerCaseOf = (text: string) => text.toUpperCase().toLowerCase();

function foldCharacter(character: string): string {
  if (/\p{Nd}/u.test(character)) return digitOf(character);
  if (/\p{Zs}/u.test(character)) return ' ';
  if (/[\p{Pd}\u2212]/u.test(character)) return '-';
  return LOOK_ALIKES.get(character) ?? character;
}

/** In Unicode, the decimal digits of a script are ten consecutive code points, from zero to nine. */
function digitOf(character: string): string {
  const code = character.codePointAt(0)!;
  let digit = 0;
  while (digit < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - digit - 1))) digit++;
  return String(digit);
}

const pairsOf = (from: string, to: string) => Array.from(from, (character, at) => [character, to[at]!] as const);

/** Look-alikes that NFKC does not map. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map([
  ...pairsOf('❶❷❸❹❺❻❼❽❾➀➁➂➃➄➅➆➇➈➊➋➌➍➎➏➐➑➒⓵⓶⓷⓸⓹⓺⓻⓼⓽⓿', '123456789123456789123456789' + '123456789' + '0'),
  ...pairsOf('аеорсухіѕјһԁӏ', 'aeopcyxisjhdl'),
  ...pairsOf('АВЕКМНОРСТУХІЅЈ', 'ABEKMHOPCTYXISJ'),
  ...pairsOf('ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο', 'ABEZHIKMNOPTYXo'),
  ...pairsOf('。∕⁄∶＠', './/:@'),
]);
