import { describe, expect, it } from '@jest/globals';
import { moreWords } from './more-words.js';

const LONG = 1024 * 1024;

describe('the further words of a text', () => {
  it.each([
    ['the parts of dotted names and paths', 'see src/kernel/event-store.ts', 'src kernel event store ts'],
    ['the parts of an address, without its scheme', 'https://docs.example.com/a_b//cd', 'docs example com'],
    ['the parts of names in camel case', 'call untilSearchable or parseJSONBody', 'until Searchable parse JSONBody'],
    ['pairs of characters where words have no spaces', '事件溯源 Verbatim', '事件 件溯 溯源'],
    ['none for plain words', 'Plain words, and well-known ones.', ''],
    ['each word once', 'a.bc a.bc', 'bc'],
  ])('%s', (_, text, words) => {
    expect(moreWords(text)).toBe(words);
  });

  // With quadratic time, texts of this length would exceed the time limit.
  it.each([
    ['one endless word', 'a'.repeat(LONG)],
    ['an endless word with accents', 'éa'.repeat(LONG / 2)],
    ['an endless word with a joining character at its end', `${'a'.repeat(LONG)}.`],
    ['endless joining characters', '.'.repeat(LONG)],
    ['endless pairs of joining characters', 'a::'.repeat(LONG / 3)],
    ['an endless name in camel case', 'aB'.repeat(LONG / 2)],
  ])('are found quickly for %s', (_, text) => {
    expect(moreWords(text)).toBe('');
  });
});
