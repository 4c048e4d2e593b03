import { expect, it } from '@jest/globals';
import { NAME_CHARACTERS_MAX, sourceNameIn } from './source-name.policy.js';

it.each([
  [' Handbook ', 'Handbook'],
  ['🍵'.repeat(NAME_CHARACTERS_MAX), '🍵'.repeat(NAME_CHARACTERS_MAX)],
  [' ', ''],
  [undefined, ''],
])('the name of a new source in %j is %j', (given, name) => expect(sourceNameIn(given)).toBe(name));

it.each([
  ['Hand\0book', 'name must not hold NUL or half of a surrogate pair'],
  ['Handbook \ud83c', 'name must not hold NUL or half of a surrogate pair'],
  ['x'.repeat(NAME_CHARACTERS_MAX + 1), 'name has more than 255 characters'],
])('the name %j of a new source is refused', (given, text) => expect(() => sourceNameIn(given)).toThrow(text));
