import { expect, it } from '@jest/globals';
import { fileNames, mimeTypeOf } from './file-types.policy.js';

it('a file is what the end of its name says', () => {
  expect(['a.CSV', 'b/c.png', 'd', 'e.zzz', '.json'].map(mimeTypeOf)).toEqual([
    'text/csv',
    'image/png',
    'application/octet-stream',
    'application/octet-stream',
    'application/json',
  ]);
});

it('files have names of their own that stay in their folder', () => {
  expect(fileNames(['a.csv', 'a.csv', '../b', 'c\n"d', '', '..'])).toEqual(['a.csv', '2-a.csv', '_b', 'c__d', 'file', '2-file']);
});
