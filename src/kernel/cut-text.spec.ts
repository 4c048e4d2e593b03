import { expect, it } from '@jest/globals';
import { cutText, shortened } from './cut-text.js';

it.each([
  ['a😀b', 1, 'a'],
  ['a😀b', 2, 'a'],
  ['a😀b', 3, 'a😀'],
  ['a😀b', 9, 'a😀b'],
])('%s is cut after at most %i units, and not within a character', (text, length, kept) => {
  expect(cutText(text, length)).toBe(kept);
});

it.each([
  ['a😀b', 4, 'a😀b'],
  ['a😀b', 3, 'a…'],
  ['12345', 5, '12345'],
  ['123456', 5, '1234…'],
  ['123🐑56', 5, '123…'],
])('%s shortened to %i units ends with an ellipsis if something is left out', (text, length, short) => {
  expect(shortened(text, length)).toBe(short);
});
