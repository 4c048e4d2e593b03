import validator from 'validator';
import { cardNumbers } from './card-numbers.js';
import { type Detector, type Match, matchesOf } from './detector.js';
import { ibans } from './ibans.js';
import { phoneNumbers } from './phone-numbers.js';

const LOCAL_PART_MAX = 64;
const DOMAIN_MAX = 253;
const LOCAL_PART_END = /[\p{L}\p{N}._%+'-]{1,64}$/u;
const DOMAIN_START = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,10}(?:xn--[a-z0-9-]{2,59}|\p{L}{2,24})/u;

/** Finds email addresses by searching from each `@` to both sides. */
function emails(text: string): Match[] {
  const found: Match[] = [];
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const local = LOCAL_PART_END.exec(text.slice(Math.max(0, at - LOCAL_PART_MAX), at))?.[0];
    const domain = local && DOMAIN_START.exec(text.slice(at + 1, at + 1 + DOMAIN_MAX))?.[0];
    if (domain) found.push({ start: at - local.length, end: at + 1 + domain.length, category: 'EMAIL' });
  }
  return found;
}

const SSN = /(?<![\d-])(?!000|666|9)\d{3}([ -])(?!00)\d{2}\1(?!0000)\d{4}(?!\d|-\d)/g;
const IPV4 = /(?<!\d|\d\.)\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)/g;

const FINDERS = {
  EMAIL: emails,
  PHONE: phoneNumbers,
  US_SSN: (text: string) => matchesOf(text, SSN, 'US_SSN'),
  CREDIT_CARD: cardNumbers,
  IPV4: (text: string) => matchesOf(text, IPV4, 'IPV4').filter(({ start, end }) => validator.isIP(text.slice(start, end), 4)),
  IBAN: ibans,
} as const satisfies Record<string, (text: string) => readonly Match[]>;

/**
 * Finds personal data of the selected kinds. The window covers the longest beginning that no finder recognises yet, that of an
 * email address: 64 characters, `@`, a label of 63 characters, a dot and two letters.
 */
export function pii({ entities }: Readonly<{ entities: readonly (keyof typeof FINDERS)[] }>): Detector {
  const finders = [...new Set(entities)].map((entity) => FINDERS[entity]);
  return {
    window: 136,
    ignoresCase: false,
    maskOf: (category) => `[${category}]`,
    find: (text) => finders.flatMap((find) => find(text)),
  };
}
