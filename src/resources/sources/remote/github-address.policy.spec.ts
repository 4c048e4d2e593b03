import { expect, it } from '@jest/globals';
import { referencesIn, repositoryAddressIn, webHostOf } from './github-address.policy.js';

it.each([
  ['https://github.com/ann/handbook', 'ann/handbook', null],
  ['https://www.github.com/ann/handbook/', 'ann/handbook', null],
  ['https://github.com/ann/hand.book.git', 'ann/hand.book', null],
  ['github.com/ann/handbook?tab=readme#top', 'ann/handbook', null],
  ['git@github.com:ann/handbook.git', 'ann/handbook', null],
  ['ann/handbook', 'ann/handbook', null],
  [' https://github.com/ann/handbook/tree/main ', 'ann/handbook', 'main'],
  ['https://github.com/ann/handbook/tree/feature/x/docs/guide', 'ann/handbook', 'feature/x/docs/guide'],
  ['https://github.com/ann/handbook/blob/main/docs/%C3%BCber%20uns.md', 'ann/handbook', 'main/docs/über uns.md'],
])('%j names %s', (given, repository, place) => {
  const address = repositoryAddressIn(given, 'github.com');
  expect([`${address?.owner}/${address?.repository}`, address?.place]).toEqual([repository, place]);
});

it.each([
  '',
  'handbook',
  'https://github.com/ann',
  'https://example.com/ann/handbook',
  'https://github.com.example.com/ann/handbook',
  'https://token@github.com/ann/handbook',
  'https://github.com/ann/..',
  'https://github.com/-ann/handbook',
  'https://github.com/ann/hand book',
  'https://github.com/ann/handbook/issues/7',
  'https://github.com/ann/handbook/tree',
  'https://github.com/ann/%zz',
  'ftp://github.com/ann/handbook',
])('%j names no repository', (given) => {
  expect(repositoryAddressIn(given, 'github.com')).toBeUndefined();
});

it('returns an address that can be parsed again', () => {
  const given = 'https://github.com/ann/handbook/blob/main/docs/%C3%BCber%20uns.md';
  const shown = repositoryAddressIn(given, 'github.com')!.url;
  expect(shown).toBe('https://github.com/ann/handbook/tree/main/docs/%C3%BCber%20uns.md');
  expect(repositoryAddressIn(shown, 'github.com')?.place).toBe('main/docs/über uns.md');
});

it('derives the host of web pages from the address of the API', () => {
  const bases = ['https://api.github.com', 'https://github.example.com/api/v3', 'http://127.0.0.1:8080'];
  expect(bases.map(webHostOf)).toEqual(['github.com', 'github.example.com', '127.0.0.1:8080']);
});

it('splits a place with short references first', () => {
  expect(referencesIn('a/b/c')).toEqual([
    { reference: 'a', path: 'b/c' },
    { reference: 'a/b', path: 'c' },
    { reference: 'a/b/c', path: '' },
  ]);
});
