import { expect, it } from '@jest/globals';
import { snippetOf } from './search-snippet.policy.js';

it('shows sixty characters on either side of the text, in the case in which it is written', () => {
  expect(snippetOf('Why is the SKY blue?', 'sky')).toBe('Why is the SKY blue?');
  expect(snippetOf(`${'a'.repeat(80)}Sky${'b'.repeat(80)}`, 'sKy')).toBe(`…${'a'.repeat(60)}Sky${'b'.repeat(60)}…`);
});

it.each([0, 1])('splits no surrogate pair, because many JSON parsers refuse half of one (%i)', (odd) => {
  const pairs = 'x'.repeat(odd) + '😀'.repeat(100);
  const snippet = snippetOf(`${pairs}sky${pairs}`, 'sky');
  expect(snippet).toMatch(/^…(😀)+skyx?(😀)+…$/u);
  expect(snippet.isWellFormed()).toBe(true);
});

it('finds the text behind characters whose lower case is longer', () => {
  expect(snippetOf(`${'İ'.repeat(200)}Sky${'İ'.repeat(200)}`, 'sky')).toBe(`…${'İ'.repeat(60)}Sky${'İ'.repeat(60)}…`);
});

it('begins at the beginning if only the database finds the text', () => {
  expect(snippetOf('Straße', 'STRASSE')).toBe('Straße');
});
