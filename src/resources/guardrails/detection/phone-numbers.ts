import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { type Match, matchesAmong } from './detector.js';

/** International numbers and North American numbers in common notations. */
const CANDIDATES =
  /(?<![\d+])\+[ ]?\(?\d(?:[ ().\/-]{0,3}\d){6,14}(?!\d)|(?<![\d+.-])00[1-9](?:[ ().\/-]{0,3}\d){7,14}(?!\d)|(?<![\d+.-])(?:1[ .-]?)?(?:\([2-9]\d{2}\)[ .-]?|[2-9]\d{2}[ .-]?)[2-9]\d{2}[ .-]?\d{4}(?!\d)/g;

/** Finds telephone numbers that are valid in the numbering plan of their country. */
export const phoneNumbers = (text: string): readonly Match[] => matchesAmong(text, CANDIDATES, 'PHONE', phoneLength);

const GROUPS_LEFT_OUT_MAX = 2;

/** The length of the number at the start of a candidate, or 0. Up to two groups at its end may not belong to it. */
function phoneLength(candidate: string): number {
  let length = candidate.length;
  for (let left = 0; left <= GROUPS_LEFT_OUT_MAX; left++) {
    if (isPhone(candidate.slice(0, length))) return length;
    length = endOfGroupBefore(candidate, length);
    if (length === 0) return 0;
  }
  return 0;
}

const isPhone = (text: string): boolean =>
  parsePhoneNumberFromString(text.replace(/^00/, '+'), { defaultCountry: 'US', extract: false })?.isValid() ?? false;

const isDigit = (character: string | undefined) => character !== undefined && character >= '0' && character <= '9';

/** The end of the digit group before the last one, or 0. */
function endOfGroupBefore(text: string, end: number): number {
  let at = end;
  while (at > 0 && isDigit(text[at - 1])) at--;
  while (at > 0 && !isDigit(text[at - 1])) at--;
  return at;
}
