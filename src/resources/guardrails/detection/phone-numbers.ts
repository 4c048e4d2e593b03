import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { type Match, matchesAmong } from './detector.js';

/** Numbers with the code of their country, and those of North America, in the usual ways of writing. */
const CANDIDATES =
  /(?<![\d+])\+[ ]?\(?\d(?:[ ().\/-]{0,2}\d){6,14}(?!\d)|(?<![\d+.-])00[1-9](?:[ ().\/-]{0,2}\d){7,14}(?!\d)|(?<![\d+.-])(?:1[ .-]?)?(?:\([2-9]\d{2}\)[ .-]?|[2-9]\d{2}[ .-]?)[2-9]\d{2}[ .-]?\d{4}(?!\d)/g;

/** Telephone numbers that exist as far as their country's plan says. */
export const phoneNumbers = (text: string): readonly Match[] => matchesAmong(text, CANDIDATES, 'PHONE', phoneLength);

const GROUPS_LEFT_OUT_MAX = 2;

/** How long the number is that a candidate begins with: the groups at its end may be others. 0 for none. */
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

/** Where the group of digits before the last one ends; 0 if there is none. */
function endOfGroupBefore(text: string, end: number): number {
  let at = end;
  while (at > 0 && isDigit(text[at - 1])) at--;
  while (at > 0 && !isDigit(text[at - 1])) at--;
  return at;
}
