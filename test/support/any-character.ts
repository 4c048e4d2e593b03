import fc from 'fast-check';

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;
const CHARACTERS = 0x110000 - SURROGATES;

/**
 * Any character of Unicode, as the unit of a text. It stands for the unit `binary`, for which fast-check first lists all
 * characters, which takes a second.
 */
export const anyCharacter = fc.nat({ max: CHARACTERS - 1 }).map(
  (place) => String.fromCodePoint(place < SURROGATES_FROM ? place : place + SURROGATES),
  (character) => {
    const [first, ...others] = typeof character === 'string' ? character : '';
    if (first === undefined || others.length > 0) throw new Error('This is not one character.');
    const code = first.codePointAt(0)!;
    return code < SURROGATES_FROM ? code : code - SURROGATES;
  },
);
