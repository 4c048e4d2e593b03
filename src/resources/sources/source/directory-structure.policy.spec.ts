import { expect, it } from '@jest/globals';
import { directoryStructure } from './directory-structure.policy.js';

const file = (filename: string, more: object = {}) => ({ filename, sha256: 'x', size: 3, ...more });
const shown = { type: 'text/markdown', size_bytes: 3, token_count: 0 };

it('shows folders and files with their tokens', () => {
  const files = [file('guide/intro.md'), file('guide/deep/end.md'), file('top.md')];
  expect(directoryStructure(files, new Map([['guide/deep/end.md', 7]]))).toEqual({
    guide: { 'intro.md': shown, deep: { 'end.md': { ...shown, token_count: 7 } } },
    'top.md': shown,
  });
});

it('shows a page by its whole address', () => {
  expect(directoryStructure([file('example.com/a.md', { url: 'https://example.com/a' })], new Map())).toEqual({
    'example.com/a.md': shown,
  });
});

it('shows a file and a folder of the same name, and names that are special in JavaScript', () => {
  const tree = directoryStructure(
    [file('a.md'), file('a.md/b.md'), file('__proto__/c.md'), file('d.md/e.md'), file('d.md')],
    new Map(),
  );
  expect(JSON.parse(JSON.stringify(tree))).toEqual(
    JSON.parse(`{"a.md": ${JSON.stringify(shown)}, "a.md/b.md": ${JSON.stringify(shown)}, "__proto__": {"c.md": ${JSON.stringify(shown)}},
      "d.md": {"e.md": ${JSON.stringify(shown)}}, "d.md (2)": ${JSON.stringify(shown)}}`),
  );
});
