import validator from 'validator';
import { type Match, matchesAmong } from './detector.js';

/** A country code, two check digits and at least eleven characters, with optional single spaces or dashes between them. */
const CANDIDATES = /(?<![A-Za-z\d])[A-Za-z]{2}[ -]?\d[ -]?\d(?:[ -]?[A-Za-z\d]){11,30}/g;

/** Finds IBANs. A candidate may include characters that follow the number, so each of its prefixes is checked. */
export const ibans = (text: string): readonly Match[] => matchesAmong(text, CANDIDATES, 'IBAN', ibanLength);

const CHARACTERS_MIN = 15;
const SPECIAL = /[ -]/;

/** The length of the IBAN at the start of a candidate, or 0. */
function ibanLength(candidate: string): number {
  const characters = candidate.replace(/[ -]/g, '').toUpperCase();
  const count = checkedLengths(characters).findLast((length) => validator.isIBAN(characters.slice(0, length)));
  return count === undefined ? 0 : lengthOf(candidate, count);
}

/** The lengths of the prefixes with valid check digits (ISO 7064, modulo 97). One in 97 random texts passes. */
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
/**
 * The check moves the first four characters (country code and check digits) behind the others, where they are six decimal digits.
 */
const HEAD = 4;
const HEAD_SHIFT = 10 ** 6;

/** The remainder of a number after characters are appended to it; letters count as 10 to 35. */
function appended(rest: number, characters: string): number {
  let next = rest;
  for (const character of characters) {
    const value = parseInt(character, 36);
    next = (next * (value > 9 ? 100 : 10) + value) % MODULUS;
  }
  return next;
}

/** The length of the prefix of a candidate that holds `count` letters and digits. */
function lengthOf(candidate: string, count: number): number {
  let at = 0;
  for (let seen = 0; seen < count; at++) if (!SPECIAL.test(candidate[at]!)) seen++;
  return at;
}
