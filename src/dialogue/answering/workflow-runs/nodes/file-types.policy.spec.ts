import { expect, it } from '@jest/globals';
import { isFileName } from '../../../../resources/code/file-name.policy.js';
import { fileNames, mimeTypeOf } from './file-types.policy.js';

it('the media type of a file follows from its extension', () => {
  expect(['a.CSV', 'b/c.png', 'd', 'e.zzz', '.json'].map(mimeTypeOf)).toEqual([
    'text/csv',
    'image/png',
    'application/octet-stream',
    'application/octet-stream',
    'application/json',
  ]);
});

it('file names are unique and stay in their folder', () => {
  expect(fileNames(['a.csv', 'a.csv', '../b', 'c\n"d', '', '..'])).toEqual(['a.csv', '2-a.csv', '_b', 'c__d', 'file', '2-file']);
});

it('long file names are cut at their beginning, and each can be a file', () => {
  const names = fileNames(['md', 'txt'].map((ending) => `${'\u{1F600}'.repeat(60)}.${ending}`));
  expect(names).toEqual([`\uFFFD${'\u{1F600}'.repeat(38)}.md`, `${'\u{1F600}'.repeat(38)}.txt`]);
  expect(names.every(isFileName)).toBe(true);
});
