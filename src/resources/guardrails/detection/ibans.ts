import validator from 'validator';
import { type Match, matchesAmong } from './detector.js';

/** A country, two digits that check the others, and at least eleven characters, with single spaces or dashes between. */
const CANDIDATES = /(?<![A-Za-z\d])[A-Za-z]{2}[ -]?\d[ -]?\d(?:[ -]?[A-Za-z\d]){11,30}/g;

/** Numbers of accounts. What stands behind one may look as if it belonged to it. */
export const ibans = (text: string): readonly Match[] => matchesAmong(text, CANDIDATES, 'IBAN', ibanLength);

const CHARACTERS_MIN = 15;
const SPECIAL = /[ -]/;

/** How long the account number is that a candidate begins with; 0 for none. */
function ibanLength(candidate: string): number {
  const characters = candidate.replace(/[ -]/g, '').toUpperCase();
  const count = checkedLengths(characters).findLast((length) => validator.isIBAN(characters.slice(0, length)));
  return count === undefined ? 0 : lengthOf(candidate, count);
}

/** The beginnings that their two digits check (ISO 7064): of other texts one in 97. */
function checkedLengths(characters: string): readonly number[] {
  const lengths: number[] = [];
  const head = appended(0, characters.slice(0, HEAD));
  let rest = 0;
  for (let length = HEAD; length <= characters.length; length++) {
    if (length >= CHARACTERS_MIN && (rest * HEAD_SHIFT + head) % MODULUS === 1) lengths.push(length);
    rest = appended(rest, characters.slice(length, length + 1));
  }
  return lengths;
}

const MODULUS = 97;
/** Two letters, of two digits each, and two digits stand in front, and count behind the others. */
const HEAD = 4;
const HEAD_SHIFT = 10 ** 6;

/** The rest of a number to which characters are appended, letters as 10 to 35. */
function appended(rest: number, characters: string): number {
  let next = rest;
  for (const character of characters) {
    const value = parseInt(character, 36);
    next = (next * (value > 9 ? 100 : 10) + value) % MODULUS;
  }
  return next;
}

/** How long the beginning of a candidate with so many letters and digits is. */
function lengthOf(candidate: string, count: number): number {
  let at = 0;
  for (let seen = 0; seen < count; at++) if (!SPECIAL.test(candidate[at]!)) seen++;
  return at;
}
