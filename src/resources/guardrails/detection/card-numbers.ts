import validator from 'validator';
import type { Match } from './detector.js';
import { type DigitGroup, digitRows } from './digit-groups.js';

const DIGITS_MIN = 13;
const DIGITS_MAX = 19;

/**
 * Finds card numbers: 13 to 19 digits with a valid Luhn check digit, also in groups separated by single spaces or dashes. Groups
 * of one or two digits and longer groups are never combined.
 */
export function cardNumbers(text: string): Match[] {
  const found: Match[] = [];
  for (const row of digitRows(text, ' -', DIGITS_MAX)) {
    for (let at = 0; at < row.length; at++) {
      const count = text[row[at]!.start - 1] === '+' ? 0 : groupsOfCard(row, at);
      if (count === 0) continue;
      const last = row[at + count - 1]!;
      found.push({ start: row[at]!.start, end: last.start + last.digits.length, category: 'CREDIT_CARD' });
      at += count - 1;
    }
  }
  return found;
}

/** The number of groups of the longest card number that begins at a group, or 0. */
function groupsOfCard(row: readonly DigitGroup[], first: number): number {
  let digits = '';
  let count = 0;
  const isShort = isShortGroup(row[first]!);
  for (let at = first; at < row.length; at++) {
    digits += row[at]!.digits;
    if (digits.length > DIGITS_MAX || isShortGroup(row[at]!) !== isShort) break;
    if (digits.length >= DIGITS_MIN && isCard(digits)) count = at - first + 1;
  }
  return count;
}

const SHORT_MAX = 2;
const isShortGroup = ({ digits }: DigitGroup) => digits.length <= SHORT_MAX;

/** Luhn check. No card issuer's numbers begin with 0. */
const isCard = (digits: string) => !digits.startsWith('0') && validator.isLuhnNumber(digits);
