import { expect, it } from '@jest/globals';
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
